import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';

/** A code that was e-mailed to the owner of an account; typing it deletes the account. */
export const AccountDeletionCode = defineEntity({
  name: 'AccountDeletionCode',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    codeHash: p.blob(),
    wrongCodes: p.integer().default(0),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});
export type AccountDeletionCode = InferEntity<typeof AccountDeletionCode>;
