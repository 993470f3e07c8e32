import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { ChosenMails } from '#rules/mail-choices.ts';
import { subscriptionsSql } from './account-sql.ts';

/** An account, which owns sites and everything else. `email` is stored in lower case. */
export const Account = defineEntity({
  name: 'Account',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    email: p.text().unique(),
    createdAt: p.datetime(),
    /** When an operator blocked the account, and the reason, which its owner can read. */
    blockedAt: p.datetime().nullable(),
    blockReason: p.text().nullable(),
    /** When it is deleted for good, from the owner's confirmation until that has ended; and when the purge began. */
    deleteAt: p.datetime().nullable(),
    purgedAt: p.datetime().nullable(),
    /** The e-mails that its owner has switched on or off; null until then. */
    mailChoices: p.json().$type<ChosenMails>().nullable(),
    /** Its plans, for `limitsOf` and `planOf`. */
    subscriptions: p
      .text()
      .nullable()
      .formula((cols) => subscriptionsSql(`${cols.id}`)),
  },
});
export type Account = InferEntity<typeof Account>;
