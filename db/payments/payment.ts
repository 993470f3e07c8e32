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
    /** The caller's own reference, opaque to us and never shown to the payer. */
    reference: p.text().nullable(),
    /** What is paid for, as the payer reads it. */
    description: p.text().nullable(),
    status: p.text().$type<PaymentStatus>(),
    expiresAt: p.datetime(),
    returnedAt: p.datetime().nullable(),
    /** The link is being closed: the payment expires once its checkout sessions are closed. */
    closeRequestedAt: p.datetime().nullable(),
    paidAt: p.datetime().nullable(),
    refundedAt: p.datetime().nullable(),
    /** The last refund was given up. */
    refundFailedAt: p.datetime().nullable(),
    /** Of partial refunds; use `refundedAmountOf`. */
    refundedAmount: p.integer().default(0),
    refundingAmount: p.integer().default(0),
    createdAt: p.datetime(),
  },
});
export type Payment = InferEntity<typeof Payment>;

/** How much of it was refunded: all of it once its status says so. */
export function refundedAmountOf({ status, amount, refundedAmount }: Payment): number {
  return status === 'refunded' ? amount : refundedAmount;
}
