import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from '#db/sites/site.ts';
import type { PayoutParty } from '#rules/states.ts';
import { PayoutAccount } from './payout-account.ts';
import { PayoutOffer } from './payout-offer.ts';

/** A site's agreement with a payout account: at most one active per site. Ended agreements are retained. */
export const PayoutAgreement = defineEntity({
  name: 'PayoutAgreement',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    payoutAccount: () => p.manyToOne(PayoutAccount),
    /** The accepted offer; null where owners attached their own payout account. */
    offer: () => p.manyToOne(PayoutOffer).nullable(),
    beganAt: p.datetime(),
    endedAt: p.datetime().nullable(),
    endedBy: p.text().$type<PayoutParty>().nullable(),
  },
});
export type PayoutAgreement = InferEntity<typeof PayoutAgreement>;
