import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * A mailed link that signs a browser in, once: the one that asked for it, or another one where the code is typed that the first
 * shows. An address without an account has one like any other.
 */
export const SigninLink = defineEntity({
  name: 'SigninLink',
  properties: {
    id: p.text().primary(),
    email: p.text(),
    hash: p.blob().unique(),
    browserHash: p.blob(),
    codeHash: p.blob(),
    wrongCodes: p.integer().default(0),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
});
export type SigninLink = InferEntity<typeof SigninLink>;
