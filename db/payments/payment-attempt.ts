import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { AttemptStatus, RefundReason } from '#rules/states.ts';
import { Payment } from './payment.ts';

/** A checkout session of a payment, its charge, and the refund of that. */
export const PaymentAttempt = defineEntity({
  name: 'PaymentAttempt',
  properties: {
    id: p.text().primary(),
    payment: () => p.manyToOne(Payment),
    status: p.text().$type<AttemptStatus>(),
    idempotencyKey: p.text(),
    /** The provider's id of the checkout session. */
    sessionId: p.text().fieldName('page').nullable(),
    /** The last visit that was led to it, to the minute. */
    openedAt: p.datetime(),
    endsAt: p.datetime(),
    /** The provider's id of the charge: `Charge.id` in providers/payments/responses.ts. */
    charge: p.text().nullable(),
    chargedAt: p.datetime().nullable(),
    refundReason: p.text().$type<RefundReason>().nullable(),
    refundKey: p.text().nullable(),
    refundBeganAt: p.datetime().nullable(),
    refundedAt: p.datetime().nullable(),
    refundFault: p.text().nullable(),
    /** How often the provider has refused the refund: each new attempt has its own idempotency key. */
    refundRefusals: p.integer().default(0),
  },
});
export type PaymentAttempt = InferEntity<typeof PaymentAttempt>;
