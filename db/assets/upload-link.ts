import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';

/**
 * Anyone with its secret can upload files to one site. It is limited to the current access of `account`, which created
 * it.
 */
export const UploadLink = defineEntity({
  name: 'UploadLink',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    account: () => p.manyToOne(Account),
    hash: p.blob(),
    maxFiles: p.integer(),
    maxFileBytes: p.bigint('number'),
    filesTaken: p.integer().default(0),
    /** When the last file arrived, and its path in the source. */
    lastFileAt: p.datetime().nullable(),
    lastFilePath: p.text().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    endedAt: p.datetime().nullable(),
    /** The token that made it, with which it ends; null where a person made it. */
    madeBy: p.text().nullable(),
  },
});
export type UploadLink = InferEntity<typeof UploadLink>;
