import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { AttemptStatus, RefundReason } from '#rules/states.ts';
import { Payment } from './payment.ts';

/** A hosted page that was opened for a payment, the charge that came of it, and where that went. */
export const PaymentAttempt = defineEntity({
  name: 'PaymentAttempt',
  properties: {
    id: p.text().primary(),
    payment: () => p.manyToOne(Payment),
    status: p.text().$type<AttemptStatus>(),
    idempotencyKey: p.text(),
    /** The provider's id for the page. */
    page: p.text().nullable(),
    openedAt: p.datetime(),
    endsAt: p.datetime(),
    /** The provider's id for the charge: what `Charge.id` is in providers/payments/responses.ts. */
    charge: p.text().nullable(),
    chargedAt: p.datetime().nullable(),
    refundReason: p.text().$type<RefundReason>().nullable(),
    refundKey: p.text().nullable(),
    refundBeganAt: p.datetime().nullable(),
    refundedAt: p.datetime().nullable(),
    refundFault: p.text().nullable(),
    /** How often the provider has answered no: each time it is asked under another key. */
    refundRefusals: p.integer().default(0),
  },
});
export type PaymentAttempt = InferEntity<typeof PaymentAttempt>;
