import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * An e-mailed link that signs in one browser, once: the one that requested it, or another one if the user types the
 * code shown by the first. Addresses without an account get the same link.
 */
export const SigninLink = defineEntity({
  name: 'SigninLink',
  properties: {
    id: p.text().primary(),
    email: p.text(),
    hash: p.blob().unique(),
    browserHash: p.blob(),
    /** Key of the requester's network, for the hourly limit. */
    network: p.text().nullable(),
    codeHash: p.blob(),
    wrongCodes: p.integer().default(0),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
});
export type SigninLink = InferEntity<typeof SigninLink>;
