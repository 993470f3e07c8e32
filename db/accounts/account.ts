import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { subscriptionsSql } from './subscription-sql.ts';

/** A person or agent's owner: everything belongs to an account. `email` is kept in lower case. */
export const Account = defineEntity({
  name: 'Account',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    email: p.text().unique(),
    createdAt: p.datetime(),
    /** When an operator blocked it, and why, as its owner reads it. */
    blockedAt: p.datetime().nullable(),
    blockReason: p.text().nullable(),
    /** Its plans, for `limitsOf` and `planOf`. */
    subscriptions: p
      .text()
      .nullable()
      .formula((cols) => subscriptionsSql(`${cols.id}`)),
  },
});
export type Account = InferEntity<typeof Account>;
