import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';

/**
 * Anyone with its secret can comment on one site on behalf of `account`, which created it, while that account has
 * access.
 */
export const ReviewLink = defineEntity({
  name: 'ReviewLink',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    account: () => p.manyToOne(Account),
    slot: p.integer().nullable(),
    hash: p.blob(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    endedAt: p.datetime().nullable(),
    /** The token that made it, with which it ends; null where a person made it. */
    madeBy: p.text().nullable(),
  },
});
export type ReviewLink = InferEntity<typeof ReviewLink>;
