/**
 * The state transitions of a paid subscription. Each runs under the lock of its account and uses the provider's answer
 * to a query: a webhook only triggers a query.
 */

import { lockAccount } from '#db/accounts/lock.ts';
import type { EntityManager } from '#db/orm.ts';
import { signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import {
  isSubscriptionInForce,
  isSubscriptionSettled,
  type SubscriptionStatus,
  subscriptionsInForce,
} from '#rules/states.ts';
import { hourMs, minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';
import { BillingSubscription, PlanGrant } from './subscription.ts';

const checkoutMs = hourMs;
const eventsKeptMs = 30 * 24 * hourMs;

/** The provider's answer, about the checkout session or its subscription. */
export type Report =
  | { status: 'open' | 'expired' }
  | { status: 'active' | 'past_due' | 'ended'; subscription: string; cancelsAt: Date | null };

const inForce = { status: { $in: [...subscriptionsInForce] } };

export async function openCheckoutOf(em: EntityManager, accountId: string): Promise<BillingSubscription | null> {
  return await em.findOne(BillingSubscription, { account: accountId, status: 'open' }, { refresh: true });
}

/** The account's subscription in force, overdue or not. */
export async function currentSubscription(em: EntityManager, accountId: string): Promise<BillingSubscription | null> {
  return await em.findOne(BillingSubscription, { account: accountId, ...inForce }, { refresh: true });
}

/** The grant that was not ended; it may have expired. */
export async function planGrantOf(em: EntityManager, accountId: string): Promise<PlanGrant | null> {
  return await em.findOne(PlanGrant, { account: accountId, endedAt: null }, { refresh: true });
}

/**
 * Adds a checkout, before the provider creates its session, and starts its workflow. The account is locked and has no
 * open checkout.
 */
export function addCheckout(tx: EntityManager, clock: Clock, account: BillingSubscription['account'], plan: string) {
  const now = clock.now();
  const id = newId('bsub');
  const about = { summary: `Subscription to the ${plan} plan`, account: account.id };
  startWorkflow(tx, clock, 'followSubscription', { subscriptionId: id }, about);
  return tx.create(BillingSubscription, {
    id,
    account,
    plan,
    status: 'open',
    createdAt: now,
    checkoutEndsAt: new Date(now.getTime() + checkoutMs),
    askAt: new Date(now.getTime() + 2000),
  });
}

/**
 * Stores the id of the checkout session. False where the purchase was cancelled meanwhile. It increments `asked`, so
 * the result of a query that started before this is discarded.
 */
export async function recordCheckoutSession(em: EntityManager, id: string, sessionId: string): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `update billing_subscription set provider_checkout = ?, asked = asked + 1
     where id = ? and status = 'open' and (provider_checkout is null or provider_checkout = ?) returning id`,
    [sessionId, id, sessionId],
  );
  return rows.length > 0;
}

/**
 * Stores the provider's answer to a query that started when the row had this `asked`. Returns the current row. If
 * another query has finished since, this answer is discarded.
 */
export async function applyReport(
  em: EntityManager,
  { clock, graceMs }: { clock: Clock; graceMs: number },
  { id, asked }: Pick<BillingSubscription, 'id' | 'asked'>,
  report: Report,
): Promise<BillingSubscription> {
  return await em.transactional(async (tx) => {
    const { account } = await tx.findOneOrFail(BillingSubscription, { id }, { disableIdentityMap: true });
    await lockAccount(tx, account.id);
    const row = await tx.findOneOrFail(BillingSubscription, { id }, { refresh: true });
    if (row.asked !== asked || isSubscriptionSettled(row.status)) return row;
    const now = clock.now();
    if (isSubscriptionInForce(report.status) && row.status === 'open')
      await endSubscriptions(tx, clock, { account: row.account.id, except: row.id });
    applyStatus(row, report, { now, graceMs });
    row.asked += 1;
    row.askAt = isSubscriptionSettled(row.status) ? null : nextQueryAt(row, now);
    return row;
  });
}

/** A subscription that is being cancelled stays `ending` until the provider has ended it. */
function applyStatus(row: BillingSubscription, report: Report, { now, graceMs }: { now: Date; graceMs: number }): void {
  row.status = row.status === 'ending' && report.status !== 'ended' ? 'ending' : report.status;
  if ('subscription' in report) {
    row.providerSubscription = report.subscription;
    row.cancelsAt = report.cancelsAt;
    row.startedAt ??= now;
  }
  row.overdueSince = row.status === 'past_due' ? (row.overdueSince ?? now) : null;
  row.servesUntil = row.overdueSince ? new Date(row.overdueSince.getTime() + graceMs) : null;
  if (isSubscriptionSettled(row.status)) row.settledAt = now;
}

/** Ends the locked account's subscriptions: here at once, and at the provider after the commit. */
export async function endSubscriptions(
  tx: EntityManager,
  clock: Clock,
  { account, except = '' }: { account: string; except?: string },
): Promise<void> {
  const others = { account, ...inForce, id: { $ne: except } };
  for (const other of await tx.find(BillingSubscription, others, { refresh: true })) {
    other.status = 'ending';
    other.overdueSince = null;
    other.servesUntil = null;
    other.askAt = clock.now();
    signalSubscription(tx, clock, other.id);
  }
  await tx.flush();
}

function nextQueryAt({ status, asked, cancelsAt }: BillingSubscription, now: Date): Date {
  const waits: Record<SubscriptionStatus, number> = {
    open: Math.min(2000 * 1.5 ** asked, 5 * minuteMs),
    past_due: hourMs,
    active: 6 * hourMs,
    ending: minuteMs,
    expired: 0,
    ended: 0,
  };
  const usual = now.getTime() + waits[status];
  const end = cancelsAt && cancelsAt > now ? cancelsAt.getTime() + minuteMs : usual;
  return new Date(Math.min(usual, end));
}

function signalSubscription(tx: EntityManager, clock: Clock, id: string): void {
  signalWorkflow(tx, clock, 'followSubscription', { subscriptionId: id }, 'moved');
}

/**
 * A webhook of the provider about a customer: all their open subscriptions are queried now. False for a repeated
 * webhook.
 */
export async function recordProviderEvent(
  em: EntityManager,
  clock: Clock,
  event: { id: string; customer: string | null },
): Promise<boolean> {
  return await em.transactional(async (tx) => {
    const now = clock.now();
    const news: unknown[] = await tx.execute(
      'insert into billing_event (id, received_at) values (?, ?) on conflict do nothing returning id',
      [event.id, now],
    );
    if (news.length === 0) return false;
    const rows: { id: string }[] = await tx.execute(
      `update billing_subscription set ask_at = ? from billing_customer customer
       where customer.account_id = billing_subscription.account_id and customer.provider_customer = ?
         and billing_subscription.ask_at is not null returning billing_subscription.id`,
      [now, event.customer],
    );
    for (const { id } of rows) signalSubscription(tx, clock, id);
    return true;
  });
}

export async function customerOf(em: EntityManager, accountId: string): Promise<string | undefined> {
  const [row] = await em.execute<{ customer: string }[]>(
    'select provider_customer as customer from billing_customer where account_id = ?',
    [accountId],
  );
  return row?.customer;
}

/** Stores the customer's id, unless the account has one. Returns the stored id. */
export async function recordCustomer(em: EntityManager, clock: Clock, accountId: string, customer: string) {
  await em.execute(
    `insert into billing_customer (account_id, provider_customer, created_at) values (?, ?, ?) on conflict (account_id) do nothing`,
    [accountId, customer, clock.now()],
  );
  return (await customerOf(em, accountId)) ?? customer;
}

/** Deletes the ids of webhooks that the provider does not repeat any more. */
export async function sweepBilling(em: EntityManager, now: Date): Promise<number> {
  const rows: unknown[] = await em.execute('delete from billing_event where received_at < ? returning id', [
    new Date(now.getTime() - eventsKeptMs),
  ]);
  return rows.length;
}

/** Whether the account has ever completed a payment for a plan. */
export async function hasBought(em: EntityManager, accountId: string): Promise<boolean> {
  return (await em.count(BillingSubscription, { account: accountId, providerSubscription: { $ne: null } })) > 0;
}
