/**
 * State transitions of an account under deletion. Its row says which one is next: with `delete_at` alone it waits and
 * can be restored, with `purged_at` too it waits for the purge of its sites, with `purged_at` alone it is gone.
 */
import { type Settled, settledAt } from '#db/deadlines.ts';
import type { EntityManager } from '#db/orm.ts';
import { cancelDeletion, startDeletion } from '#db/sites/deletion.ts';
import { Site } from '#db/sites/site.ts';
import { signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import { addressReservedMs, deletionDelayMs } from '#rules/periods.ts';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { Account } from './account.ts';
import { AccountDeletionCode } from './deletion-code.ts';

/** Locks everything that a deletion changes, in the order of all other calls: sites, then the account. */
export async function lockForDeletion(tx: EntityManager, accountId: string): Promise<Account> {
  await tx.execute(
    `select 1 from site where account_id = ? or id in (select site_id from collaborator where account_id = ?)
     order by id for update`,
    [accountId, accountId],
  );
  await tx.execute('select 1 from account where id = ? for update', [accountId]);
  return await tx.findOneOrFail(Account, { id: accountId }, { refresh: true });
}

/** The account's sites that are not gone. */
export async function remainingSites(em: EntityManager, accountId: string): Promise<Site[]> {
  const remaining = { $or: [{ purgedAt: null }, { deleteAt: { $ne: null } }] };
  return await em.find(Site, { account: accountId, ...remaining }, { refresh: true, orderBy: { id: 'asc' } });
}

/** Starts the deletion of the locked account, and of its sites, which are archived. */
export async function startAccountDeletion(tx: EntityManager, clock: Clock, account: Account): Promise<void> {
  account.deleteAt = new Date(clock.now().getTime() + deletionDelayMs);
  for (const site of await remainingSites(tx, account.id)) {
    if (!site.deleteAt) await startDeletion(tx, clock, site, { withAccount: account.deleteAt });
  }
  startDeleteAccount(tx, clock, account.id);
}

/**
 * Ends the deletion of the locked account, and of the sites that it began to delete. Returns these; they are archived. A site
 * whose purge has begun, by another machine's clock, is lost.
 */
export async function cancelAccountDeletion(tx: EntityManager, clock: Clock, account: Account): Promise<Site[]> {
  const restored = (await remainingSites(tx, account.id)).filter(
    ({ deletedWithAccount, purgedAt }) => deletedWithAccount && !purgedAt,
  );
  for (const site of restored) cancelDeletion(tx, clock, site);
  account.deleteAt = null;
  signalWorkflow(tx, clock, 'deleteAccount', { accountId: account.id }, 'moved');
  return restored;
}

function startDeleteAccount(tx: EntityManager, clock: Clock, accountId: string): void {
  startWorkflow(tx, clock, 'deleteAccount', { accountId }, { summary: 'Delete an account', account: accountId });
}

/** Whether the account is still to be deleted. The activities do nothing to another one. */
export async function isDeleting(em: EntityManager, accountId: string): Promise<boolean> {
  return (await em.count(Account, { id: accountId, deleteAt: { $ne: null } })) > 0;
}

/**
 * Begins the purge of an account that is due: from then on its owner cannot sign in or restore it. Returns `restored` where
 * its owner restored it, `blocked` while its owner cannot sign in, `emptying` while its sites are being purged, and
 * `purging` after that.
 */
export async function settleAccountDeletion(em: EntityManager, clock: Clock, accountId: string): Promise<Settled> {
  const now = clock.now();
  return await em.transactional(async (tx) => {
    const account = await lockForDeletion(tx, accountId);
    if (!account.deleteAt)
      return settledAt(now, { status: account.purgedAt ? 'purged' : 'restored', endsAt: undefined });
    if (!account.purgedAt && account.deleteAt > now)
      return settledAt(now, { status: 'deleting', endsAt: account.deleteAt });
    if (!account.purgedAt && account.blockedAt)
      return settledAt(now, { status: 'blocked', endsAt: new Date(now.getTime() + hourMs) });
    account.purgedAt ??= now;
    const sites = await remainingSites(tx, accountId);
    // One that a call created while the account was being deleted.
    for (const site of sites) if (!site.deleteAt) await startDeletion(tx, clock, site, { withAccount: now });
    if (sites.length === 0) return settledAt(now, { status: 'purging', endsAt: undefined });
    return settledAt(now, { status: 'emptying', endsAt: new Date(now.getTime() + hourMs) });
  });
}

/** Records that nothing is left to remove. */
export async function finishAccountPurge(em: EntityManager, accountId: string): Promise<void> {
  await em.execute('update account set delete_at = null where id = ? and purged_at is not null', [accountId]);
}

/** Accounts whose purge should have begun: their workflow may be lost. */
export async function overdueAccountDeletions(em: EntityManager, clock: Clock): Promise<Account[]> {
  return await em.find(Account, { deleteAt: { $lt: new Date(clock.now().getTime() - hourMs) } }, { limit: 500 });
}

/** Starts the workflow of each; running ones are unaffected. */
export async function restartAccountDeletions(em: EntityManager, clock: Clock, accounts: readonly Account[]) {
  await em.transactional(async (tx) => {
    for (const { id } of accounts) startDeleteAccount(tx, clock, id);
  });
}

/** Frees the addresses of accounts that were purged long ago. No mailbox has such an address. Returns how many. */
export async function freeAddresses(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - addressReservedMs);
  const freed = await em.execute<unknown[]>(
    `update account set email = lower(id) || '@deleted.invalid' where purged_at < ? and delete_at is null
       and email not like '%@deleted.invalid' returning id`,
    [before],
  );
  return freed.length;
}

/** Deletes codes that can no longer be typed, and that no limit counts. Returns how many. */
export async function sweepDeletionCodes(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - hourMs);
  return await em.nativeDelete(AccountDeletionCode, { createdAt: { $lt: before }, expiresAt: { $lt: now } });
}
