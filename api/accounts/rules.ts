/** Accounts: creation, changes and usage. */

import { type FilterQuery, LockMode } from '@mikro-orm/core';
import type { Actor } from '#api/access.ts';
import { readEmail } from '#api/email-addresses.ts';
import { usableTokens } from '#api/tokens/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { quotaUsage } from '#db/accounts/daily-quota.ts';
import { Token } from '#db/auth/token.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { Domain } from '#db/domains/domain.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { publishKinds } from '#rules/states.ts';
import { hourMs } from '#rules/time.ts';
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

/** `publishesReset` is when the oldest publish of the last hour stops counting. */
export type Usage = {
  sites: number;
  archivedSites: number;
  tokens: number;
  domains: number;
  publishes: number;
  publishesReset: Date | undefined;
  files: { used: number; resetsAt: Date };
};

/** Counts everything of the account that has a limit or is metered. */
export async function countUsage(em: EntityManager, clock: Deps['clock'], accountId: string): Promise<Usage> {
  const now = clock.now();
  const sites = await em.count(Site, { account: accountId, status: 'active' });
  const archivedSites = await em.count(Site, { account: accountId, status: 'archived' });
  const tokens = await em.count(Token, await usableTokens(em, accountId, now));
  const domains = await em.count(Domain, { account: accountId, removedAt: null });
  const recent = { site: { account: accountId }, createdAt: { $gt: new Date(now.getTime() - hourMs) } };
  const counted = { ...recent, kind: { $in: [...publishKinds] } } satisfies FilterQuery<Deployment>;
  const publishes = await em.count(Deployment, counted);
  const [first] = await em.find(Deployment, counted, {
    orderBy: { createdAt: 'asc' },
    limit: 1,
    fields: ['createdAt'],
  });
  const publishesReset = first && new Date(first.createdAt.getTime() + hourMs);
  const files = await quotaUsage(em, clock, accountId);
  return { sites, archivedSites, tokens, domains, publishes, publishesReset, files };
}
