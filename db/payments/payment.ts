import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { Site } from '#db/sites/site.ts';
import type { PaymentStatus } from '#rules/states.ts';

/** A one-time payment. `expired` may be written late: use `paymentStatusAt`. */
export const Payment = defineEntity({
  name: 'Payment',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    payoutAccount: () => p.manyToOne(PayoutAccount),
    /** In the minor unit of the currency. */
    amount: p.integer(),
    currency: p.text(),
    /** The caller's own reference, opaque to us. */
    reference: p.text().nullable(),
    status: p.text().$type<PaymentStatus>(),
    expiresAt: p.datetime(),
    returnedAt: p.datetime().nullable(),
    paidAt: p.datetime().nullable(),
    refundedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
});
export type Payment = InferEntity<typeof Payment>;
