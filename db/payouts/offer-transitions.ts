/** State transitions of offers and agreements. A payout account's row is always locked before a site's. */

import { type Settled, settledAt } from '#db/deadlines.ts';
import { notifyInbox } from '#db/inbox/news.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import { type PayoutParty, payoutOfferStatusAt } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';
import { lockPayoutAccount } from './credentials.ts';
import type { PayoutAccount } from './payout-account.ts';
import { PayoutAgreement } from './payout-agreement.ts';
import { PayoutOffer } from './payout-offer.ts';

/** Locks both parties of an agreement. */
export async function lockParties(
  tx: EntityManager,
  { payoutAccountId, siteId }: { payoutAccountId: string; siteId: string },
): Promise<{ payoutAccount: PayoutAccount; site: Site }> {
  const payoutAccount = await lockPayoutAccount(tx, payoutAccountId);
  return { payoutAccount, site: await lockSite(tx, siteId) };
}

/** Creates the agreement. Both parties are locked; the database allows one per site. */
export function startAgreement(
  tx: EntityManager,
  { payoutAccount, site, offer, now }: Parties & { offer: PayoutOffer | null; now: Date },
): PayoutAgreement {
  return tx.create(PayoutAgreement, { id: newId('agr'), site, payoutAccount, offer, beganAt: now });
}
type Parties = { payoutAccount: PayoutAccount; site: Site };

/** Ends active agreements, and wakes the inbox of the party that has not ended them. Returns how many. */
export async function endAgreements(
  tx: EntityManager,
  where: { id: string } | { site: string } | { payoutAccount: string },
  { by, now }: { by: PayoutParty; now: Date },
): Promise<number> {
  const active = { ...where, endedAt: null };
  const agreements = await tx.find(PayoutAgreement, active, { populate: ['site', 'payoutAccount'] });
  for (const { site, payoutAccount } of agreements) {
    await notifyInbox(tx, by === 'site' ? payoutAccount.account.id : site.account.id);
  }
  return await tx.nativeUpdate(PayoutAgreement, active, { endedAt: now, endedBy: by });
}

/** Withdraws open offers, overdue ones included, and signals their workflows. */
export async function withdrawOffers(
  tx: EntityManager,
  clock: Clock,
  where: { id: string } | { site: string } | { payoutAccount: string },
): Promise<void> {
  const now = clock.now();
  await tx.nativeUpdate(PayoutOffer, { ...where, status: 'open', expiresAt: { $lte: now } }, { status: 'expired' });
  const open = await tx.find(PayoutOffer, { ...where, status: 'open' }, { refresh: true });
  for (const offer of open) {
    offer.status = 'withdrawn';
    offer.answeredAt = now;
    signalPayoutOffer(tx, clock, offer.id);
  }
  // Flushed before a new offer is inserted: the database allows one open offer per site.
  await tx.flush();
}

/** Starts the workflow that records the offer's expiry, when the transaction commits. */
export function startOffer(tx: EntityManager, clock: Clock, { id, site }: { id: string; site: string }): void {
  const about = { summary: 'Expire an offer to use a payout account for a site', site };
  startWorkflow(tx, clock, 'expireOffer', { offerId: id }, about);
}

/** Signals the offer's workflow, when the transaction commits, that the row has changed. */
export function signalPayoutOffer(tx: EntityManager, clock: Clock, id: string): void {
  signalWorkflow(tx, clock, 'expireOffer', { offerId: id }, 'moved');
}

/** Marks an offer as expired if it is overdue. Returns its status, and for how long at most that lasts. */
export async function settleOffer(em: EntityManager, now: Date, id: string): Promise<Settled> {
  await em.nativeUpdate(PayoutOffer, { id, status: 'open', expiresAt: { $lte: now } }, { status: 'expired' });
  const offer = await em.findOne(PayoutOffer, { id });
  if (!offer) return settledAt(now, undefined);
  const status = payoutOfferStatusAt(offer, now);
  return settledAt(now, { status, endsAt: status === 'open' ? offer.expiresAt : undefined });
}

/** The condition of a query for offers that this account can answer. Offers for an archived site cannot be answered. */
export function openOffersFor(accountId: string, now: Date) {
  const site = { status: 'active' as const };
  return {
    status: 'open' as const,
    expiresAt: { $gt: now },
    $or: [
      { openedBy: 'payout_account' as const, site: { ...site, account: accountId } },
      { openedBy: 'site' as const, site, payoutAccount: { account: accountId } },
    ],
  };
}

/** The condition of a query for open offers that this account has made. */
export function openOffersBy(accountId: string, now: Date) {
  return {
    status: 'open' as const,
    expiresAt: { $gt: now },
    $or: [
      { openedBy: 'site' as const, site: { account: accountId } },
      { openedBy: 'payout_account' as const, payoutAccount: { account: accountId } },
    ],
  };
}

/** Withdraws the open offers that this account has made. The transaction takes no lock of a party afterwards. */
export async function withdrawOffersBy(tx: EntityManager, clock: Clock, accountId: string): Promise<void> {
  for (const { id } of await tx.find(PayoutOffer, openOffersBy(accountId, clock.now())))
    await withdrawOffers(tx, clock, { id });
}
