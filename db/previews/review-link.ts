import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';

/** Lets whoever holds its secret comment on one site, in the name of `account` who made it, and for no longer than that account may. */
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
  },
});
export type ReviewLink = InferEntity<typeof ReviewLink>;
