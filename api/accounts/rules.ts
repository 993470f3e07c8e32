/** Accounts: creation, changes and usage. */

import { LockMode } from '@mikro-orm/core';
import type { Actor } from '#api/access.ts';
import { readEmail } from '#api/email-addresses.ts';
import { usableTokens } from '#api/tokens/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { quotaUsage } from '#db/accounts/daily-quota.ts';
import { Token } from '#db/auth/token.ts';
import { buildSecondsUsage, type HourlyUsage, hourlyUsage } from '#db/deployments/hourly-limits.ts';
import { recordAct } from '#db/history/recording.ts';
import { lockAddress } from '#db/mail/limits.ts';
import type { EntityManager } from '#db/orm.ts';
import { renderingUsage } from '#db/renderings/transitions.ts';
import { countsSql } from '#db/sites/transitions.ts';
import type { HourlyLimit } from '#rules/hourly-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { taken } from './address.ts';
import { askForChange, withdrawChange } from './address-change.ts';
import { isReserved } from './address-hold.ts';

/**
 * Creates an account, or returns the existing one of the address. Throws `invalid_email`, and `email_taken` for an
 * address that another account may get back.
 */
export async function openAccount(
  em: EntityManager,
  clock: Deps['clock'],
  { email, name }: { email: string; name: string },
): Promise<Account> {
  const address = readEmail(email);
  const isOpen = await em.transactional((tx) => createAccount(tx, clock, { email: address, name }));
  if (!isOpen) throw taken();
  return await em.findOneOrFail(Account, { email: address });
}

/**
 * The account of the address, which keeps it until the transaction ends. Without one it is created, where the platform
 * allows that; null otherwise.
 */
export async function accountOfAddress(
  tx: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  { email, name = email.slice(0, email.lastIndexOf('@')) }: { email: string; name?: string | undefined },
): Promise<Account | null> {
  if (config.signUp === 'open') await createAccount(tx, clock, { email, name });
  // A change of address that commits while this waits is seen: the row is compared again.
  const [row] = await tx.execute<{ id: string }[]>(
    'select id from account where email = ? and purged_at is null for key share',
    [email],
  );
  return row ? await tx.findOneOrFail(Account, { id: row.id }, { refresh: true }) : null;
}

/** Creates the account unless it exists. False if the address is reserved. */
async function createAccount(
  tx: EntityManager,
  clock: Deps['clock'],
  { email, name }: { email: string; name: string },
): Promise<boolean> {
  // A change of address holds this lock too, so the address is not reserved meanwhile.
  await lockAddress(tx, email);
  if (await isReserved(tx, clock.now(), email)) return false;
  await tx.execute(
    'insert into account (id, name, email, created_at) values (?, ?, ?, ?) on conflict (email) do nothing',
    [newId('acct'), name, email, clock.now()],
  );
  return true;
}

export type Change = 'name' | 'pending_email';
export type AccountChange = { name?: string | undefined; email?: string | undefined };

/**
 * Changes the name at once, and the address after confirmation. Sending the present address withdraws a pending change.
 * Returns what changed. Throws `nothing_to_update`, `invalid_email`, `email_taken`, `auth_disabled`, `rate_limited`,
 * `address_change_pending`.
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
    // Before the account: a confirmation locks both addresses, and then the account.
    if (address !== undefined) await lockAddress(tx, address);
    const account = await tx.findOneOrFail(Account, actor.accountId, {
      lockMode: LockMode.PESSIMISTIC_WRITE,
      refresh: true,
    });
    const changed: Change[] = [];
    const asks = address !== undefined && address !== account.email;
    if (asks && (await askForChange(tx, deps, { account, email: address, actor })) === 'taken') return 'taken';
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
  sketches: number;
  hourly: Record<HourlyLimit | 'build_seconds_per_hour' | 'screenshots_per_hour', HourlyUsage>;
  files: { used: number; resetsAt: Date };
};

/** Counts everything of the account that has a limit or is metered. */
export async function countUsage(em: EntityManager, clock: Deps['clock'], accountId: string): Promise<Usage> {
  const now = clock.now();
  const [counts] = await em.execute<[Pick<Usage, 'sites' | 'archivedSites' | 'domains' | 'sketches'>]>(
    `select count(*) filter (where ${countsSql})::int as sites,
       count(*) filter (where status = 'archived' and delete_at is null and purged_at is null)::int as "archivedSites",
       (select count(*)::int from domain where account_id = ? and removed_at is null) as domains,
       (select count(*)::int from sketch where account_id = ? and status = 'shown') as sketches
     from site where account_id = ?`,
    [accountId, accountId, accountId],
  );
  const tokens = await em.count(Token, await usableTokens(em, accountId, now));
  const hourly = {
    ...(await hourlyUsage(em, clock, accountId)),
    build_seconds_per_hour: await buildSecondsUsage(em, clock, accountId),
    screenshots_per_hour: await renderingUsage(em, clock, accountId),
  };
  const files = await quotaUsage(em, clock, accountId);
  return { ...counts, tokens, hourly, files };
}
