import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { blockReasonSql } from '#db/accounts/subscription-sql.ts';
import type { PayoutAccountStatus, PayoutRail } from '#rules/states.ts';

/** Where a visitor's money can land. Its key stands sealed in it and nowhere else; what the provider says of it is as old as `checkedAt`. */
export const PayoutAccount = defineEntity({
  name: 'PayoutAccount',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    rail: p.text().$type<PayoutRail>(),
    name: p.text(),
    /** Of the rail `own_key`, until the account is gone. Open it with `credentialsOf`. */
    sealedKey: p.blob().nullable(),
    keyLastFour: p.text().nullable(),
    /** The provider's id for it: shown nowhere. */
    providerAccount: p.text().nullable(),
    status: p.text().$type<PayoutAccountStatus>(),
    /** ISO 4217, in capitals; null where the provider has not said. */
    currency: p.text().nullable(),
    /** What it waits for before it takes money, in our words. */
    waitingFor: p.json().$type<string[]>(),
    checkedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    goneAt: p.datetime().nullable(),
    /** Why a person has stopped its account; null as a rule. */
    blockReason: p
      .text()
      .nullable()
      .formula((cols) => blockReasonSql(`${cols.account}`)),
  },
});
export type PayoutAccount = InferEntity<typeof PayoutAccount>;
