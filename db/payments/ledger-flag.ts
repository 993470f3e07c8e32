import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** What the ledger check found and could not repair, for the operator. Deleted when a later check no longer finds it. */
export const LedgerFlag = defineEntity({
  name: 'LedgerFlag',
  properties: {
    /** A charge of the provider, or one of our payments or bookings. */
    subject: p.text().primary(),
    payoutAccountId: p.text().nullable(),
    why: p.text(),
    foundAt: p.datetime(),
    seenAt: p.datetime(),
    /** Settled by the operator, and the reason, which the check cannot see. */
    settledAt: p.datetime().nullable(),
    settledBecause: p.text().nullable(),
  },
});
export type LedgerFlag = InferEntity<typeof LedgerFlag>;
