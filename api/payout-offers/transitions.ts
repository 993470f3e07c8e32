/** Reading, accepting, withdrawing and declining offers. */

import { type Person, requireScope } from '#api/access.ts';
import { requireSettledPayouts } from '#api/payouts/rules.ts';
import type { EntityManager } from '#db/orm.ts';
import { lockParties, signalPayoutOffer, startAgreement, withdrawOffers } from '#db/payouts/offer-transitions.ts';
import { PayoutOffer } from '#db/payouts/payout-offer.ts';
import { call } from '#rules/calls/calls.ts';
import type { Scope } from '#rules/scopes.ts';
import { payoutOfferStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { requireServing, requireThere } from './creation.ts';
import { recordBetween } from './recording.ts';
import { answererOf, type WholeOffer, whole } from './schemas.ts';

/** The condition for offers about sites that the token may reach; sites of others have no place in its scope. */
export function reachableOffers(accountId: string, { sites }: Scope) {
  return sites === 'all' ? {} : { $or: [{ site: { $in: sites } }, { site: { account: { $ne: accountId } } }] };
}

/** The offer, for the owners of its site and its payout account. Throws `not_found`, `out_of_scope`. */
export async function loadOffer(em: EntityManager, person: Person, id: string): Promise<WholeOffer> {
  const { accountId } = person;
  const offer = isId('offer', id) ? await em.findOne(PayoutOffer, { id }, whole) : null;
  if (offer && [offer.site.account.id, offer.payoutAccount.account.id].includes(accountId)) {
    if (offer.site.account.id === accountId) requireScope(person, { sites: [offer.site.id] });
    return offer;
  }
  throw errors.not_found('This account has no payout offer with this id.', {
    nextAction: `Call ${call('payout_offer.list')} to list the open offers made to this account.`,
  });
}

/**
 * Creates the agreement. A call that is resumed may find that its earlier run did. Throws `not_found`, `not_yours_to_answer`, `offer_already_accepted`, `offer_expired`,
 * `invalid_payout_offer` for a withdrawn offer, `payout_account_gone`, `site_archived`, `address_change_pending`.
 */
export async function acceptOffer(
  em: EntityManager,
  deps: Deps,
  person: Person,
  id: string,
  { isResumed = false } = {},
): Promise<WholeOffer> {
  return await em.transactional(async (tx) => {
    const { offer, payoutAccount, site } = await lockOffer(tx, person, id);
    const { clock } = deps;
    if (isResumed && offer.status === 'accepted' && answererOf(offer) === person.accountId) return offer;
    requireAnswerable(offer, person, clock.now());
    requireThere(payoutAccount);
    requireServing(site);
    // Also for the other party: a thief of its account may have made the offer.
    for (const { account } of [site, payoutAccount]) await requireSettledPayouts(tx, deps, { accountId: account.id });
    const now = clock.now();
    offer.status = 'accepted';
    offer.answeredAt = now;
    startAgreement(tx, { payoutAccount, site, offer, now });
    signalPayoutOffer(tx, clock, offer.id);
    recordBetween(tx, clock, person, 'payout_offer.accepted', { id, site, payoutAccount });
    return offer;
  });
}

/**
 * Withdrawn by its sender, or declined by its recipient. An offer that is over is unchanged. Throws `not_found`,
 * `offer_already_accepted`.
 */
export async function endOffer(em: EntityManager, { clock }: Deps, person: Person, id: string): Promise<WholeOffer> {
  return await em.transactional(async (tx) => {
    const { offer, ...parties } = await lockOffer(tx, person, id);
    if (offer.status === 'accepted') throw alreadyAccepted(offer);
    if (offer.status === 'open') recordBetween(tx, clock, person, 'payout_offer.ended', { id, ...parties });
    await withdrawOffers(tx, clock, { id: offer.id });
    await tx.refresh(offer, whole);
    return offer;
  });
}

async function lockOffer(tx: EntityManager, person: Person, id: string) {
  const offer = await loadOffer(tx, person, id);
  const parties = await lockParties(tx, { payoutAccountId: offer.payoutAccount.id, siteId: offer.site.id });
  // An undone change of address withdraws offers without the locks of their parties.
  await tx.execute('select 1 from payout_offer where id = ? for update', [id]);
  await tx.refresh(offer, whole);
  return { offer, ...parties };
}

function requireAnswerable(offer: WholeOffer, { accountId }: Person, now: Date): void {
  const status = payoutOfferStatusAt(offer, now);
  if (status === 'accepted') throw alreadyAccepted(offer);
  if (answererOf(offer) !== accountId && status === 'open') {
    throw errors.not_yours_to_answer('This account created the offer, so the other party has to answer it.', {
      nextAction: `Tell the other party about the offer, or withdraw it with ${call('payout_offer.end', { id: offer.id })}.`,
    });
  }
  if (status === 'expired') {
    throw errors.offer_expired('This offer has expired.', { nextAction: createNewOffer });
  }
  if (status === 'withdrawn') {
    throw errors.invalid_payout_offer('This offer was withdrawn or declined.', { nextAction: createNewOffer });
  }
}

const createNewOffer = 'Create a new offer, or ask the other party to create one.';

function alreadyAccepted({ site }: WholeOffer) {
  return errors.offer_already_accepted('This offer has already been accepted.', {
    nextAction: `To end the agreement, call ${call('payout_agreement.end', { id: site })}.`,
  });
}
