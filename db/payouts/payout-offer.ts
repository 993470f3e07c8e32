import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from '#db/sites/site.ts';
import type { PayoutOfferStatus, PayoutParty } from '#rules/states.ts';
import { PayoutAccount } from './payout-account.ts';

/**
 * One party's offer that a site pays into a payout account. `expired` may be written late: use `payoutOfferStatusAt`.
 */
export const PayoutOffer = defineEntity({
  name: 'PayoutOffer',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    payoutAccount: () => p.manyToOne(PayoutAccount),
    openedBy: p.text().$type<PayoutParty>(),
    status: p.text().$type<PayoutOfferStatus>(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    /** When it was accepted, withdrawn or declined. */
    answeredAt: p.datetime().nullable(),
  },
});
export type PayoutOffer = InferEntity<typeof PayoutOffer>;
