import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { SubscriptionStatus } from '#rules/states.ts';

/**
 * A paid subscription, from its checkout session to its end. `plan` is a name in the catalog of plans. The provider's
 * ids of the session and the subscription are never part of a response.
 */
export const BillingSubscription = defineEntity({
  name: 'BillingSubscription',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    plan: p.text(),
    status: p.text().$type<SubscriptionStatus>(),
    providerCheckout: p.text().nullable(),
    providerSubscription: p.text().nullable(),
    createdAt: p.datetime(),
    /** When its checkout session expires. */
    checkoutEndsAt: p.datetime(),
    startedAt: p.datetime().nullable(),
    /** Since when a payment is overdue, and the end of the grace period. */
    overdueSince: p.datetime().nullable(),
    servesUntil: p.datetime().nullable(),
    /** When it ends, if the owner has cancelled it. */
    cancelsAt: p.datetime().nullable(),
    settledAt: p.datetime().nullable(),
    /** When to query the provider again; null once it is settled. */
    askAt: p.datetime().nullable(),
    /** Number of finished queries: an answer to an older query is discarded. */
    asked: p.integer().default(0),
  },
});
export type BillingSubscription = InferEntity<typeof BillingSubscription>;

/** A plan granted by an operator, until a date. `endedAt` is set if it was ended or replaced earlier. */
export const PlanGrant = defineEntity({
  name: 'PlanGrant',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    plan: p.text(),
    createdAt: p.datetime(),
    endsAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
});
export type PlanGrant = InferEntity<typeof PlanGrant>;
