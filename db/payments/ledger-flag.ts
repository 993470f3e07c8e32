import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** What the ledger check found and could not mend: a person has to look. Gone when a later check finds it in order. */
export const LedgerFlag = defineEntity({
  name: 'LedgerFlag',
  properties: {
    /** A charge of the provider, or a payment or booking of ours. */
    subject: p.text().primary(),
    payoutAccountId: p.text().nullable(),
    why: p.text(),
    foundAt: p.datetime(),
    seenAt: p.datetime(),
    /** A person has seen to it, and why the check cannot see that. */
    settledAt: p.datetime().nullable(),
    settledBecause: p.text().nullable(),
  },
});
export type LedgerFlag = InferEntity<typeof LedgerFlag>;
