import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { PaymentAttempt } from './payment-attempt.ts';

/** The refund of a part of a captured charge. The refund of a whole charge is in its `PaymentAttempt`. */
export const PaymentRefund = defineEntity({
  name: 'PaymentRefund',
  properties: {
    id: p.text().primary(),
    attempt: () => p.manyToOne(PaymentAttempt),
    /** In the minor unit of the payment's currency. */
    amount: p.integer(),
    /** How often the provider has refused it: each new attempt has its own idempotency key. */
    refusals: p.integer().default(0),
    beganAt: p.datetime(),
    refundedAt: p.datetime().nullable(),
    /** When it was given up. */
    failedAt: p.datetime().nullable(),
    fault: p.text().nullable(),
  },
});
export type PaymentRefund = InferEntity<typeof PaymentRefund>;
