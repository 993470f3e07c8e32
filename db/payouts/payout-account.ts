import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { blockReasonSql } from '#db/accounts/account-sql.ts';
import type { PayoutAccountStatus, PayoutRail } from '#rules/states.ts';

/**
 * An account that visitors' payments go to. Its key is stored only here, encrypted. The provider's data is as old as
 * `checkedAt`.
 */
export const PayoutAccount = defineEntity({
  name: 'PayoutAccount',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    rail: p.text().$type<PayoutRail>(),
    name: p.text(),
    /** For the rail `own_key`, until the account is gone. Decrypt it with `credentialsOf`. */
    sealedKey: p.blob().nullable(),
    keyLastFour: p.text().nullable(),
    /** The provider's id of the account; never part of a response. */
    providerAccount: p.text().nullable(),
    status: p.text().$type<PayoutAccountStatus>(),
    /** ISO 4217, in capitals; null if the provider has not reported it. */
    currency: p.text().nullable(),
    /** What is missing before it can accept payments, in our own words. */
    waitingFor: p.json().$type<string[]>(),
    checkedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    goneAt: p.datetime().nullable(),
    /** Why an operator blocked the owning account; null if it is not blocked. */
    blockReason: p
      .text()
      .nullable()
      .formula((cols) => blockReasonSql(`${cols.account}`)),
  },
});
export type PayoutAccount = InferEntity<typeof PayoutAccount>;
