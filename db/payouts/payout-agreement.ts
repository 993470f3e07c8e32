import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from '#db/sites/site.ts';
import type { PayoutParty } from '#rules/states.ts';
import { PayoutAccount } from './payout-account.ts';
import { PayoutOffer } from './payout-offer.ts';

/** A site pays into a payout account: at most one at a time. Those that ended are kept. */
export const PayoutAgreement = defineEntity({
  name: 'PayoutAgreement',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    payoutAccount: () => p.manyToOne(PayoutAccount),
    /** What both agreed to; null where the owner attached his own. */
    offer: () => p.manyToOne(PayoutOffer).nullable(),
    beganAt: p.datetime(),
    endedAt: p.datetime().nullable(),
    endedBy: p.text().$type<PayoutParty>().nullable(),
  },
});
export type PayoutAgreement = InferEntity<typeof PayoutAgreement>;
