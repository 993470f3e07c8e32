/** Payout offers that the reader can answer. */

import { reachableOffers } from '#api/payout-offers/transitions.ts';
import { openOffersFor } from '#db/payouts/offer-transitions.ts';
import { PayoutOffer } from '#db/payouts/payout-offer.ts';
import { call } from '#rules/calls/calls.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { unfinished } from './done.ts';
import type { InboxItem, Source } from './item.ts';

export const payoutOffers: Source = async (em, { accountId, scope }, since, { config, now, limit }) => {
  if (!scope.payouts) return [];
  const offers = await em.find(
    PayoutOffer,
    {
      $and: [
        reachableOffers(accountId, scope),
        openOffersFor(accountId, now),
        { createdAt: { $gt: since } },
        { [unfinished(accountId, { kind: 'payout_offer', at: 'created_at' })]: [] },
      ],
    },
    { populate: ['site', 'payoutAccount'], orderBy: { createdAt: 'desc' }, limit },
  );
  return offers.map(({ id, site, payoutAccount, createdAt }): InboxItem => {
    const host = siteHostname(config, site.name);
    return {
      kind: 'payout_offer',
      id,
      site: { id: site.id, name: site.name },
      at: createdAt,
      title: `A payout offer is waiting for an answer: payments for ${host} would go to the payout account “${payoutAccount.name}”.`,
      nextAction: `Ask the owner of this account, then accept with ${call('payout_offer.accept', { id })} or decline with ${call('payout_offer.end', { id })}.`,
    };
  });
};
