import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';

/** A browser that is signed in, by the hash of its cookie. It ends by being deleted. */
export const BrowserSession = defineEntity({
  name: 'BrowserSession',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    hash: p.blob().unique(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});
export type BrowserSession = InferEntity<typeof BrowserSession>;
