import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { SubscriptionStatus } from '#rules/states.ts';

/**
 * A plan that is bought, from the page to pay on to its end. `plan` and what it allows come from our catalog; of the provider stand here its
 * names for the page and the subscription, which leave no answer.
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
    /** From when nobody can pay on its page any more. */
    checkoutEndsAt: p.datetime(),
    startedAt: p.datetime().nullable(),
    /** Since when a payment is overdue, and until when the plan stays in force all the same. */
    overdueSince: p.datetime().nullable(),
    servesUntil: p.datetime().nullable(),
    /** When it ends, where the owner has cancelled it. */
    cancelsAt: p.datetime().nullable(),
    settledAt: p.datetime().nullable(),
    /** When the provider is asked again; null once nothing can change any more. */
    askAt: p.datetime().nullable(),
    /** How often it was: of two answers that cross, the one to the later question counts. */
    asked: p.integer().default(0),
  },
});
export type BillingSubscription = InferEntity<typeof BillingSubscription>;

/** A plan given by an operator, until a date. One that was ended, or replaced by another, has `endedAt`. */
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
