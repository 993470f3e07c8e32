import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { blockReasonSql } from '#db/accounts/account-sql.ts';
import type { Scope } from '#rules/scopes.ts';

/** A bearer token, stored as the SHA-256 of its secret. The secret is shown once. */
export const Token = defineEntity({
  name: 'Token',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    name: p.text(),
    hash: p.blob().unique(),
    lastFour: p.text(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
    expiresAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
    /** How often its secret was replaced by a rotation, which ends what the old one opened. */
    rotations: p.integer().default(0),
    /** The token that made it, with which it ends; null where a person made it. */
    madeBy: p.text().nullable(),
    /** What its holder may do. */
    scope: p.json().$type<Scope>(),
    /** Why an operator blocked the account; null if it is not blocked. */
    blockReason: p
      .text()
      .nullable()
      .formula((cols) => blockReasonSql(`${cols.account}`)),
  },
});
export type Token = InferEntity<typeof Token>;
