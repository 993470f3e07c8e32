import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { EntityManager } from '#db/orm.ts';

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

/** Locks the session until the transaction ends, so that it is not signed out meanwhile. False if it was. */
export async function lockSession(tx: EntityManager, id: string): Promise<boolean> {
  const rows = await tx.execute<unknown[]>('select 1 from browser_session where id = ? for share', [id]);
  return rows.length > 0;
}
