/** What has become of plans that are bought: asked of the provider, and written down. The same for a call, a workflow and a schedule. */

import { type Settled, settledAt } from '#db/deadlines.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Billing, CheckoutPage } from '#providers/billing.ts';
import { isSubscriptionSettled } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { BillingSubscription } from './subscription.ts';
import { applyReport, type Report } from './transitions.ts';

export type BillingDeps = { config: Pick<Config, 'billing'>; clock: Clock; billing: Billing | undefined };

/** A workflow asks when it is due; who is behind by more has nobody that asks. */
const lateMs = 2 * 60_000;
const lateAtOnce = 100;
/** A provider that is slow, or silent, takes seconds for each. */
const askedAtOnce = 10;

/** Asks about one and answers what it is now, and in how many milliseconds to ask again. */
export async function querySubscription(em: EntityManager, deps: BillingDeps, id: string): Promise<Settled> {
  const { billing, clock } = deps;
  const row = await em.findOneOrFail(BillingSubscription, { id }, { refresh: true });
  if (isSubscriptionSettled(row.status)) return { status: row.status, settled: true };
  if (!billing) throw new Error('billing is off, and a plan that is bought has to be followed');
  return await recordReport(em, deps, row, await reportOf(billing, clock, row));
}

/** Ends the page so that nobody pays on it any more. Answers what became of it, which may be that somebody has paid. */
export async function closeCheckout(em: EntityManager, deps: BillingDeps, row: BillingSubscription): Promise<Settled> {
  const { billing } = deps;
  if (!billing) throw new Error('billing is off, and a page has to be closed');
  const { providerCheckout } = row;
  const page = providerCheckout ? await billing.closeCheckout(providerCheckout) : null;
  return await recordReport(em, deps, row, page ? await reportOfPage(billing, page) : { status: 'expired' });
}

/** Asks about all that should have been asked about long ago. Answers how many there were. */
export async function queryOverdue(em: () => EntityManager, deps: BillingDeps): Promise<number> {
  const before = new Date(deps.clock.now().getTime() - lateMs);
  const late = await em().find(
    BillingSubscription,
    { askAt: { $lt: before } },
    { orderBy: { askAt: 'asc' }, limit: lateAtOnce, fields: ['id'] },
  );
  const faults: unknown[] = [];
  const left = late.map(({ id }) => id);
  const askOn = async () => {
    // One that cannot be asked about does not stand in the way of the others.
    for (let id = left.shift(); id; id = left.shift())
      await querySubscription(em(), deps, id).catch((fault) => faults.push(fault));
  };
  await Promise.all(Array.from({ length: askedAtOnce }, askOn));
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
  // Of a page without a name nobody was told the address.
  if (!providerCheckout) return { status: checkoutEndsAt > clock.now() ? 'open' : 'expired' };
  return await reportOfPage(billing, await billing.readCheckout(providerCheckout));
}

async function reportOfPage(billing: Billing, page: CheckoutPage): Promise<Report> {
  if (page.status !== 'complete') return { status: page.status };
  if (!page.subscription) throw new Error('a page was completed and nothing was bought on it');
  return await reportOfBought(billing, page.subscription, false);
}

async function reportOfBought(billing: Billing, subscription: string, isEnding: boolean): Promise<Report> {
  const ask = isEnding ? billing.endSubscription : billing.readSubscription;
  return { ...(await ask(subscription)), subscription };
}
