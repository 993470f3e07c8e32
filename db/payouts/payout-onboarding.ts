import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { PayoutAccount } from './payout-account.ts';

/**
 * Our link to the provider's onboarding, at most one per account. Anyone who has it can use it until it expires. Its
 * secret is stored as a hash.
 */
export const PayoutOnboarding = defineEntity({
  name: 'PayoutOnboarding',
  properties: {
    payoutAccount: () => p.oneToOne(PayoutAccount).primary(),
    hash: p.blob(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    /** The token that made it, with which it ends; null where a person made it. */
    madeBy: p.text().nullable(),
  },
});
export type PayoutOnboarding = InferEntity<typeof PayoutOnboarding>;
