/**
 * Blocking and unblocking of accounts. Every check reads the block state from the account's row. While blocked: tokens,
 * sessions, OAuth clients and git are refused with the reason; its sites (`site.owner_blocked_at`) are closed; its
 * mails wait; its domains are not checked and get no certificates.
 */

import { expireHoldsAndPayments } from '#db/bookings/holds.ts';
import { cancelUnfinished } from '#db/deployments/transitions.ts';
import { Domain } from '#db/domains/domain.ts';
import { type DomainSignal, signalOnboardDomain } from '#db/domains/transitions.ts';
import { platformFor, recordAct } from '#db/history/recording.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { errors } from '#runtime/errors.ts';
import { Account } from './account.ts';

type Deps = { clock: Clock; config: Config };

/**
 * Blocks the account, and e-mails the reason to its owner. Cancels unfinished deployments of its sites and expires
 * their holds. Expires open payments on its sites and into its payout accounts. If the account is already blocked, only
 * the reason changes. Throws `not_found`.
 */
export async function blockAccount(em: EntityManager, deps: Deps, id: string, reason: string): Promise<Account> {
  return await em.transactional(async (tx) => {
    const sites = await lockSitesOf(tx, id);
    const account = await lockNamed(tx, id);
    if (account.blockReason === reason) return account;
    const isNew = !account.blockedAt;
    Object.assign(account, { blockedAt: account.blockedAt ?? deps.clock.now(), blockReason: reason });
    await tx.flush();
    notifyOwner(tx, deps, account, reason);
    recordAct(tx, deps.clock, platformFor(id), 'account.blocked', { subject: account, detail: { reason } });
    if (!isNew) return account;
    await signalDomains(tx, deps.clock, id, 'block');
    await expireHoldsAndPayments(tx, deps.clock, { account: id });
    await cancelUnfinished(tx, deps.clock, sites);
    return account;
  });
}

/** Unblocks the account and checks its domains. */
export async function unblockAccount(em: EntityManager, deps: Deps, id: string): Promise<Account> {
  return await em.transactional(async (tx) => {
    await lockSitesOf(tx, id);
    const account = await lockNamed(tx, id);
    if (!account.blockedAt) return account;
    Object.assign(account, { blockedAt: null, blockReason: null });
    await tx.flush();
    notifyOwner(tx, deps, account, null);
    recordAct(tx, deps.clock, platformFor(id), 'account.unblocked', { subject: account });
    await signalDomains(tx, deps.clock, id, 'unblock');
    return account;
  });
}

/** Sites are locked before their account everywhere, which prevents deadlocks. */
async function lockSitesOf(tx: EntityManager, account: string): Promise<Site[]> {
  await tx.execute('select 1 from site where account_id = ? order by id for update', [account]);
  return await tx.find(Site, { account }, { refresh: true, orderBy: { id: 'asc' } });
}

async function lockNamed(tx: EntityManager, id: string): Promise<Account> {
  await tx.execute('select 1 from account where id = ? for no key update', [id]);
  const account = await tx.findOne(Account, { id }, { refresh: true });
  if (account) return account;
  throw errors.not_found('There is no such account. To search for it, run account list --match.');
}

/** `reason` is null for an unblocked account. */
function notifyOwner(tx: EntityManager, deps: Deps, { email, id }: Account, reason: string | null): void {
  if (!deps.config.mail) return;
  queueMail(tx, deps, { kind: 'account-blocked', to: email, data: { reason }, account: id });
}

async function signalDomains(tx: EntityManager, clock: Clock, account: string, move: DomainSignal): Promise<void> {
  for (const { id } of await tx.find(Domain, { account, removedAt: null })) signalOnboardDomain(tx, clock, id, move);
}
