import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * An e-mailed link that signs in one browser, once: the one that opens it, or the one that requested it, into which its
 * user types the code that the link's page shows. Addresses without an account have the same row.
 */
export const SigninLink = defineEntity({
  name: 'SigninLink',
  properties: {
    id: p.text().primary(),
    email: p.text(),
    hash: p.blob().unique(),
    browserHash: p.blob(),
    /** What the requesting browser says it is, in our own words. */
    askedBrowser: p.text().nullable(),
    /** Its network address. */
    askedFrom: p.text().nullable(),
    /** Key of the requester's network, for the hourly limit. */
    network: p.text().nullable(),
    /** Matches no code before the page has shown one. */
    codeHash: p.blob(),
    /** Until when the code works that the page showed last. */
    codeExpiresAt: p.datetime().nullable(),
    wrongCodes: p.integer().default(0),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    endedAt: p.datetime().nullable(),
  },
});
export type SigninLink = InferEntity<typeof SigninLink>;
