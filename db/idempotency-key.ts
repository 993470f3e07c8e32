import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A response below 400 to a request with `Idempotency-Key`, stored for 24 hours. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  properties: {
    /** SHA-256 of account (or public id), method, path and key. */
    scope: p.blob().primary(),
    bodyHash: p.blob(),
    /**
     * Id, without its prefix, of the resource to create. Reserved before the call runs, so that a retry after a crash
     * creates it once.
     */
    reservedId: p.text(),
    /** The resource's id, from which the response is rendered again; null while the first call runs. */
    resourceId: p.text().nullable(),
    /** Secrets that are shown once, encrypted under a key that is derived from the caller's token and key. */
    sealed: p.blob().nullable(),
    /** Incremented by each attempt: an attempt with an earlier number has lost its lease. */
    lease: p.integer().default(1),
    createdAt: p.datetime(),
    /** While the call runs: when its lease expires. Afterwards: when the response is deleted. */
    expiresAt: p.datetime(),
  },
});
export type IdempotencyKey = InferEntity<typeof IdempotencyKey>;
