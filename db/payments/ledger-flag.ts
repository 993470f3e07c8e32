import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * A finding of the ledger check that it could not repair, for the operator. Deleted when a later check no longer finds
 * it.
 */
export const LedgerFlag = defineEntity({
  name: 'LedgerFlag',
  properties: {
    /** A charge of the provider, or one of our payments or bookings. */
    subject: p.text().primary(),
    payoutAccountId: p.text().nullable(),
    why: p.text(),
    foundAt: p.datetime(),
    seenAt: p.datetime(),
    /** When and why the operator settled it. */
    settledAt: p.datetime().nullable(),
    settledBecause: p.text().nullable(),
  },
});
export type LedgerFlag = InferEntity<typeof LedgerFlag>;
