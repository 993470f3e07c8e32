/** Queries the provider about subscriptions and stores the answers, for API calls, workflows and a schedule. */

import pLimit from 'p-limit';
import { type Settled, settledAt } from '#db/deadlines.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Billing, BillingSession } from '#providers/billing.ts';
import { isSubscriptionSettled } from '#rules/states.ts';
import { minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { BillingSubscription } from './subscription.ts';
import { applyReport, type Report } from './transitions.ts';

export type BillingDeps = { config: Pick<Config, 'billing'>; clock: Clock; billing: Billing | undefined };

/** A workflow queries each row when it is due; if a row is later than this, its workflow was lost. */
const lateMs = 2 * minuteMs;
const lateMax = 100;
/** Maximum concurrency: a slow provider takes seconds per query. */
const concurrentQueries = 10;

/** Queries the provider about one subscription. Returns its status, and in how many milliseconds to query again. */
export async function querySubscription(em: EntityManager, deps: BillingDeps, id: string): Promise<Settled> {
  const { billing, clock } = deps;
  const row = await em.findOneOrFail(BillingSubscription, { id }, { refresh: true });
  if (isSubscriptionSettled(row.status)) return { status: row.status, settled: true };
  if (!billing) throw new Error('the subscription cannot be queried because billing is not configured');
  return await recordReport(em, deps, row, await reportOf(billing, clock, row));
}

/** Closes the checkout session. Returns its status: it may have been paid meanwhile. */
export async function closeCheckoutSession(
  em: EntityManager,
  deps: BillingDeps,
  row: BillingSubscription,
): Promise<Settled> {
  const { billing } = deps;
  if (!billing) throw new Error('the checkout session cannot be expired because billing is not configured');
  const { providerCheckout } = row;
  const session = providerCheckout ? await billing.closeSession(providerCheckout) : null;
  return await recordReport(em, deps, row, session ? await reportOfSession(billing, session) : { status: 'expired' });
}

/** Queries the provider about all overdue subscriptions. Returns how many. */
export async function queryOverdue(em: () => EntityManager, deps: BillingDeps): Promise<number> {
  const before = new Date(deps.clock.now().getTime() - lateMs);
  const late = await em().find(
    BillingSubscription,
    { askAt: { $lt: before } },
    { orderBy: { askAt: 'asc' }, limit: lateMax, fields: ['id'] },
  );
  const faults: unknown[] = [];
  await pLimit(concurrentQueries).map(late, async ({ id }) => {
    await querySubscription(em(), deps, id).catch((fault) => faults.push(fault));
  });
  if (faults.length > 0) throw faults[0];
  return late.length;
}

async function recordReport(
  em: EntityManager,
  deps: BillingDeps,
  row: BillingSubscription,
  report: Report,
): Promise<Settled> {
  const { clock, config } = deps;
  const { status, askAt } = await applyReport(em, { clock, graceMs: config.billing?.graceMs ?? 0 }, row, report);
  const now = clock.now();
  return settledAt(now, {
    status,
    endsAt: askAt && askAt > now ? askAt : isSubscriptionSettled(status) ? undefined : now,
  });
}

async function reportOf(billing: Billing, clock: Clock, row: BillingSubscription): Promise<Report> {
  const { status, providerCheckout, providerSubscription, checkoutEndsAt } = row;
  if (providerSubscription) return await reportOfBought(billing, providerSubscription, status === 'ending');
  // Without an id, the session's address was never returned to anyone.
  if (!providerCheckout) return { status: checkoutEndsAt > clock.now() ? 'open' : 'expired' };
  return await reportOfSession(billing, await billing.readSession(providerCheckout));
}

async function reportOfSession(billing: Billing, session: BillingSession): Promise<Report> {
  if (session.status !== 'complete') return { status: session.status };
  if (!session.subscription) throw new Error('the completed checkout session has no subscription');
  return await reportOfBought(billing, session.subscription, false);
}

async function reportOfBought(billing: Billing, subscription: string, isEnding: boolean): Promise<Report> {
  const ask = isEnding ? billing.endSubscription : billing.readSubscription;
  return { ...(await ask(subscription)), subscription };
}
