/** Accounts: creation, changes and usage. */

import { LockMode } from '@mikro-orm/core';
import type { Actor } from '#api/access.ts';
import { readEmail } from '#api/email-addresses.ts';
import { usableTokens } from '#api/tokens/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { quotaUsage } from '#db/accounts/daily-quota.ts';
import { Token } from '#db/auth/token.ts';
import { buildSecondsUsage, type HourlyUsage, hourlyUsage } from '#db/deployments/hourly-limits.ts';
import { Domain } from '#db/domains/domain.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { countedSites } from '#db/sites/transitions.ts';
import type { HourlyLimit } from '#rules/hourly-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { askForChange, taken, withdrawChange } from './address.ts';

/** Creates an account, or returns the existing one of the address. Throws `invalid_email`. */
export async function openAccount(
  em: EntityManager,
  clock: Deps['clock'],
  { email, name }: { email: string; name: string },
): Promise<Account> {
  const address = readEmail(email);
  // Concurrent calls create one account.
  await em.execute(
    `insert into account (id, name, email, created_at) values (?, ?, ?, ?) on conflict (email) do nothing`,
    [newId('acct'), name, address, clock.now()],
  );
  return await em.findOneOrFail(Account, { email: address });
}

export type Change = 'name' | 'pending_email';
export type AccountChange = { name?: string | undefined; email?: string | undefined };

/**
 * Changes the name at once, and the address after confirmation. Sending the present address withdraws a pending change.
 * Returns what changed. Throws `nothing_to_update`, `invalid_email`, `email_taken`, `auth_disabled`, `rate_limited`.
 */
export async function changeAccount(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { name, email }: AccountChange,
): Promise<{ account: Account; changed: Change[] }> {
  const address = email === undefined ? undefined : readEmail(email);
  if (address !== undefined && !deps.config.mail) throw noConfirmation();
  const outcome = await em.transactional(async (tx) => {
    const account = await tx.findOneOrFail(Account, actor.accountId, {
      lockMode: LockMode.PESSIMISTIC_WRITE,
      refresh: true,
    });
    const changed: Change[] = [];
    const asks = address !== undefined && address !== account.email;
    if (asks && (await askForChange(tx, deps, account, address)) === 'taken') return 'taken';
    if (name !== undefined && name !== account.name) {
      account.name = name;
      changed.push('name');
    }
    if (!asks && address !== undefined && (await withdrawChange(tx, account.id)) > 0) changed.push('pending_email');
    if (changed.length === 0 && !asks) throw nothingToUpdate();
    recordAct(tx, deps.clock, actor, 'account.updated', { subject: account, detail: { changed, asked: asks } });
    return { account, changed };
  });
  if (outcome === 'taken') throw taken();
  return outcome;
}

function noConfirmation() {
  return errors.auth_disabled('This platform cannot send e-mail, so it cannot confirm a new address.', {
    nextAction: 'Ask the operator to change the address.',
  });
}

function nothingToUpdate() {
  return errors.nothing_to_update(
    'The request contains no changes: the account already has these values, or the body is empty.',
    {
      nextAction: 'Send a new name, a new e-mail address, or both.',
    },
  );
}

export type Usage = {
  sites: number;
  archivedSites: number;
  tokens: number;
  domains: number;
  hourly: Record<HourlyLimit | 'build_seconds_per_hour', HourlyUsage>;
  files: { used: number; resetsAt: Date };
};

/** Counts everything of the account that has a limit or is metered. */
export async function countUsage(em: EntityManager, clock: Deps['clock'], accountId: string): Promise<Usage> {
  const now = clock.now();
  const sites = await em.count(Site, countedSites(accountId));
  const archivedSites = await em.count(Site, {
    account: accountId,
    status: 'archived',
    deleteAt: null,
    purgedAt: null,
  });
  const tokens = await em.count(Token, await usableTokens(em, accountId, now));
  const domains = await em.count(Domain, { account: accountId, removedAt: null });
  const usageOf = (name: HourlyLimit) => hourlyUsage(em, clock, accountId, name);
  const hourly = {
    build_seconds_per_hour: await buildSecondsUsage(em, clock, accountId),
    publishes_per_hour: await usageOf('publishes_per_hour'),
    previews_per_hour: await usageOf('previews_per_hour'),
    uploads_per_hour: await usageOf('uploads_per_hour'),
  };
  const files = await quotaUsage(em, clock, accountId);
  return { sites, archivedSites, tokens, domains, hourly, files };
}
