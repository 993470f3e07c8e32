/**
 * What ends with an account: money at once, and what is about a person after 30 days. Repeating a function changes
 * nothing. What stays is the receipt of others: payments with their payout account, subscriptions, and work on other
 * sites.
 */

import { revokeAllAccess } from '#db/auth/token-revocation.ts';
import { type BillingDeps, closeCheckoutSession } from '#db/billing/provider-queries.ts';
import { endSubscriptions, openCheckoutOf } from '#db/billing/transitions.ts';
import { Domain } from '#db/domains/domain.ts';
import { lockDomainWithSite, removeDomain } from '#db/domains/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import { expireOpenPayments } from '#db/payouts/open-payments.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import type { Clock } from '#runtime/clock.ts';
import { lockAccount } from './lock.ts';

/** Cancels the plan at the provider, and closes payments into the account's payout accounts. */
export async function endMoney(em: EntityManager, deps: BillingDeps, accountId: string): Promise<void> {
  const checkout = deps.billing && (await openCheckoutOf(em, accountId));
  if (checkout) await closeCheckoutSession(em, deps, checkout);
  await em.transactional(async (tx) => {
    await lockAccount(tx, accountId);
    await endSubscriptions(tx, deps.clock, { account: accountId });
  });
  for (const { id } of await em.find(PayoutAccount, { account: accountId }, { fields: ['id'] }))
    await expireOpenPayments(em, deps.clock, { payoutAccount: id });
}

/** In the order of their references. Each takes the account's id once. */
const removals = [
  'delete from account_deletion_code where account_id = ?',
  'delete from email_change where account_id = ?',
  'delete from files_of_day where account_id = ?',
  'delete from feedback where account_id = ?',
  'delete from plan_grant where account_id = ?',
  'delete from access_request where account_id = ?',
  'delete from access_request where email = (select email from account where id = ?)',
  'delete from signin_link where email = (select email from account where id = ?)',
  // One that a call accepted while the account was being deleted.
  'delete from collaborator where account_id = ?',
  'delete from invitation where account_id = ?',
  'delete from invitation where email = (select email from account where id = ?)',
  'delete from token where account_id = ?',
  'delete from history_entry where owner_id = ?',
  'delete from inbox_done where account_id = ?',
  `update sketch_host set name = '', note = null where sketch_id in (select id from sketch where account_id = ?)`,
  `update sketch set title = '' where account_id = ?`,
  'update bookable set reply_to_id = null where reply_to_id = ?',
] as const;

/** Removes everything of a purged account but receipts, and its keys. */
export async function removeAccountRows(em: EntityManager, clock: Clock, accountId: string): Promise<void> {
  const now = clock.now();
  for (const { id } of await em.find(Domain, { account: accountId, removedAt: null }, { fields: ['id'] })) {
    await em.transactional(async (tx) => {
      const domain = await lockDomainWithSite(tx, id);
      if (!domain.removedAt) await removeDomain(tx, clock, domain);
    });
  }
  await em.transactional(async (tx) => {
    await tx.execute('select 1 from account where id = ? for update', [accountId]);
    await revokeAllAccess(tx, accountId, now);
  });
  // One by one, so that no transaction is long; a repetition continues.
  for (const removal of removals) await em.execute(removal, [accountId]);
  await em.execute(
    `update payout_account set status = 'gone', gone_at = coalesce(gone_at, ?), sealed_key = null, waiting_for = '[]', name = ''
     where account_id = ?`,
    [now, accountId],
  );
  await em.execute(
    `update account set name = 'Deleted account', mail_choices = null where id = ? and purged_at is not null`,
    [accountId],
  );
}
