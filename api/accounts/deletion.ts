/** Deleting an account from a signed-in browser with an e-mailed code, and restoring it for 30 days. */
import { LockMode } from '@mikro-orm/core';
import type { Actor } from '#api/access.ts';
import { checkCode, hashCode, newUserCode, wrongCodesMax } from '#api/auth/codes.ts';
import { recordFailedCodes } from '#api/auth/failed-codes.ts';
import { limitDeletionCodes } from '#api/auth/rate-limits.ts';
import { leaveAllSites } from '#api/collaborators/rules.ts';
import { archiveSite } from '#api/sites/rules.ts';
import { removeSketch } from '#api/sketches/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { cancelAccountDeletion, lockForDeletion, remainingSites, startAccountDeletion } from '#db/accounts/deletion.ts';
import { AccountDeletionCode } from '#db/accounts/deletion-code.ts';
import { revokeAllAccess, revokeTokensOf } from '#db/auth/token-revocation.ts';
import { endSubscriptions } from '#db/billing/transitions.ts';
import { repeatDeadlocked } from '#db/deadlocks.ts';
import { recordAct } from '#db/history/recording.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { lockPayoutAccount } from '#db/payouts/credentials.ts';
import { endAgreements, withdrawOffers } from '#db/payouts/offer-transitions.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { type Pending, pendingOfAccount } from '#db/sites/pending.ts';
import { Site } from '#db/sites/site.ts';
import { Sketch } from '#db/sketches/sketch.ts';
import { deletionCodeMs } from '#rules/periods.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import type { AccountPending } from '#web/pages/account-deletion.ts';
import { withdrawChange } from './address-change.ts';
import { requireSettledAddress } from './address-hold.ts';

export type Deletion = { outcome: 'deleted'; deleteAt: Date } | { outcome: 'wrong_code'; triesLeft: number };

/** What ends with the account, for its owner to decide. */
export async function pendingOf(em: EntityManager, { clock }: Deps, id: string): Promise<AccountPending> {
  const own = 'select id from site where account_id = ? and purged_at is null';
  const paid = 'select id from payout_account where account_id = ?';
  const [counts] = await em.execute<[Omit<AccountPending, keyof Pending>]>(
    `select
       (select count(*)::int from site where account_id = ? and delete_at is null and purged_at is null) as sites,
       (select count(*)::int from sketch where account_id = ? and status = 'shown') as sketches,
       (select count(*)::int from billing_subscription where account_id = ? and status in ('active', 'past_due')) as plans,
       (select count(*)::int from payout_agreement where (site_id in (${own}) or payout_account_id in (${paid}))
          and ended_at is null) as agreements,
       (select count(*)::int from collaborator where account_id = ?) as others`,
    [id, id, id, id, id, id],
  );
  return { ...counts, ...(await pendingOfAccount(em, clock.now(), id)) };
}

/**
 * E-mails a code, which replaces earlier ones. Throws `rate_limited`, `address_change_pending`, and `site_archived`
 * where the operator has blocked a site of the account.
 */
export async function mailDeletionCode(em: EntityManager, deps: Deps, { accountId }: Actor): Promise<void> {
  const { clock, config } = deps;
  const [now, id, code] = [clock.now(), newId('link'), newUserCode()];
  await em.transactional(async (tx) => {
    // First: typing a code locks it before the account.
    await tx.nativeUpdate(AccountDeletionCode, { account: accountId, expiresAt: { $gt: now } }, { expiresAt: now });
    const account = await tx.findOneOrFail(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    await requireDeletable(tx, deps, accountId);
    await limitDeletionCodes(tx, deps, accountId);
    const expiresAt = new Date(now.getTime() + deletionCodeMs);
    const codeHash = hashCode(config.secret, id, code);
    tx.create(AccountDeletionCode, { id, account, codeHash, createdAt: now, expiresAt });
    const data = { stage: 'asked', code } as const;
    queueMail(tx, deps, { kind: 'account-deletion', to: account.email, data, until: expiresAt, account: accountId });
  });
}

/**
 * Deletes the account after 30 days, until which its owner, who is e-mailed, can restore it. All access ends at once.
 * Five wrong codes end a code. Throws `expired` without a code, and as `mailDeletionCode` does.
 */
export async function deleteAccount(em: EntityManager, deps: Deps, actor: Actor, typed: string): Promise<Deletion> {
  return await repeatDeadlocked(() => em.fork().transactional((tx) => deleteOnce(tx, deps, actor, typed)));
}

async function deleteOnce(tx: EntityManager, deps: Deps, actor: Actor, typed: string): Promise<Deletion> {
  const { accountId } = actor;
  const now = deps.clock.now();
  const usable = { account: accountId, expiresAt: { $gt: now }, wrongCodes: { $lt: wrongCodesMax } };
  // Locked, so that concurrent wrong codes are counted one after the other.
  const code = await tx.findOne(AccountDeletionCode, usable, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!code) throw errors.expired('This code has expired. Ask for a new one.');
  const checked = checkCode(deps.config.secret, code, typed);
  if (!checked.isRight) {
    const { triesLeft } = checked;
    if (triesLeft === 0) await recordFailedCodes(tx, deps.clock, 'account.deletion_failed', { id: accountId });
    return { outcome: 'wrong_code', triesLeft };
  }
  code.expiresAt = now;
  // Calls that make something lock their token first, and payout accounts before sites.
  await revokeTokensOf(tx, accountId, now);
  const payouts = await tx.find(PayoutAccount, { account: accountId }, { fields: ['id'], orderBy: { id: 'asc' } });
  for (const { id } of payouts) await lockPayoutAccount(tx, id);
  const account = await lockForDeletion(tx, accountId);
  await requireDeletable(tx, deps, accountId);
  for (const { id } of payouts) {
    await endAgreements(tx, { payoutAccount: id }, { by: 'payout_account', now });
    await withdrawOffers(tx, deps.clock, { payoutAccount: id });
  }
  await endEverything(tx, deps, actor);
  await startAccountDeletion(tx, deps.clock, account);
  await withdrawChange(tx, accountId);
  await endSubscriptions(tx, deps.clock, { account: accountId });
  recordAct(tx, deps.clock, actor, 'account.deleted', { subject: account });
  const deleteAt = account.deleteAt as Date;
  const data = {
    stage: 'done',
    deleteAt: deleteAt.toISOString(),
    link: `${deps.config.baseUrl}/account/restore`,
  } as const;
  queueMail(tx, deps, { kind: 'account-deletion', to: account.email, data, account: accountId });
  await tx.flush();
  await revokeAllAccess(tx, accountId, now);
  return { outcome: 'deleted', deleteAt };
}

/** Takes the account's sites and sketches offline, ends their agreements, and leaves other sites. */
async function endEverything(tx: EntityManager, deps: Deps, actor: Actor): Promise<void> {
  const { accountId } = actor;
  for (const site of await remainingSites(tx, accountId)) {
    const { id, deleteAt, purgedAt } = site;
    if (purgedAt) continue;
    await archiveSite(tx, deps, actor, id);
    if (!deleteAt) recordAct(tx, deps.clock, actor, 'site.deleted', { site });
    await endAgreements(tx, { site: id }, { by: 'site', now: deps.clock.now() });
    await withdrawOffers(tx, deps.clock, { site: id });
  }
  await leaveAllSites(tx, deps, actor);
  for (const { id } of await tx.find(Sketch, { account: accountId, status: 'shown' }))
    await removeSketch(tx, deps, actor, id);
}

/** Ends the deletion: the sites are archived. Throws `expired` where it is too late. */
export async function restoreAccount(em: EntityManager, { clock }: Deps, actor: Actor): Promise<void> {
  await em.transactional(async (tx) => {
    const account = await lockForDeletion(tx, actor.accountId);
    if (!account.deleteAt && !account.purgedAt) return;
    if (!account.deleteAt || account.purgedAt || account.deleteAt <= clock.now())
      throw errors.expired('This account has been deleted for good.');
    for (const site of await cancelAccountDeletion(tx, clock, account))
      recordAct(tx, clock, actor, 'site.restored', { site });
    recordAct(tx, clock, actor, 'account.restored', { subject: account });
  });
}

async function requireDeletable(tx: EntityManager, { clock }: Deps, accountId: string): Promise<void> {
  await requireSettledAddress(tx, clock, accountId, 'delete the account');
  const blocked = await tx.findOne(Site, { account: accountId, purgedAt: null, blockedAt: { $ne: null } });
  if (blocked)
    throw errors.site_archived(
      `The site ${blocked.name} has been blocked by the operator, so the account cannot be deleted. Contact the operator.`,
    );
}
