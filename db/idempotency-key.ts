import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** An answer below 400 to a call that carried `Idempotency-Key`, kept 24 hours. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  properties: {
    /** SHA-256 of account (or public id), method, path and key. */
    scope: p.blob().primary(),
    bodyHash: p.blob(),
    /** Id, without its prefix, of what the call makes: decided before it runs, so that a call taken up after a crash makes it once. */
    reservedId: p.text(),
    /** What renders the answer anew: the resource's id; absent while the first call runs. */
    resourceId: p.text().nullable(),
    /** What is shown once, sealed under a key that only the caller's token and key together make. */
    sealed: p.blob().nullable(),
    /** Grows each time that the call is taken up: who runs it under an earlier number has been taken for dead. */
    lease: p.integer().default(1),
    createdAt: p.datetime(),
    /** While the call runs: when it is taken for dead. After: when the answer is forgotten. */
    expiresAt: p.datetime(),
  },
});
export type IdempotencyKey = InferEntity<typeof IdempotencyKey>;
