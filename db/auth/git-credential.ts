import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { blockReasonSql } from '#db/accounts/account-sql.ts';
import { Site } from '#db/sites/site.ts';
import type { GitAccess, Repository } from '#rules/states.ts';

/** User name and password for one repository. The password is shown once and stored as its SHA-256. */
export const GitCredential = defineEntity({
  name: 'GitCredential',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    account: () => p.manyToOne(Account),
    repository: p.text().$type<Repository>(),
    access: p.text().$type<GitAccess>(),
    username: p.text().unique(),
    hash: p.blob(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
    /** Whether a push with it may publish. */
    publish: p.boolean().default(false),
    /** The token that made it, with which it ends; null where a person made it. */
    madeBy: p.text().nullable(),
    /** The name of that token. */
    makerName: p
      .text()
      .nullable()
      .formula((cols) => `(select maker.name from token maker where maker.id = ${cols.madeBy})`),
    /** Why an operator blocked the account; null if it is not blocked. */
    blockReason: p
      .text()
      .nullable()
      .formula((cols) => blockReasonSql(`${cols.account}`)),
  },
});
export type GitCredential = InferEntity<typeof GitCredential>;
