import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';

/** A signed-in browser, stored by the hash of its cookie. Signing out deletes the row. */
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
