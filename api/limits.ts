/** Caps of an account, held to under its lock, so that calls at the same moment do not both take the last place. */
import { LockMode } from '@mikro-orm/core';
import { Account } from '../db/entities/account.ts';
import type { EntityManager } from '../db/orm.ts';
import { errors } from '../errors.ts';

export type Cap = {
  limit: number;
  count(): Promise<number>;
  /** What is counted, as "sites". */
  what: string;
  /** Who has as many, as "this site". */
  holder?: string;
  nextAction: string;
};

/** Throws `plan_limit` when the account has as many as it may. Call it in the transaction that adds one. */
export async function countWithinLimit(
  tx: EntityManager,
  accountId: string,
  { limit, count, what, holder = 'this account', nextAction }: Cap,
): Promise<void> {
  await tx.findOneOrFail(Account, accountId, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if ((await count()) < limit) return;
  throw errors.plan_limit(`The plan takes ${limit} ${what}, and ${holder} has as many.`, { nextAction });
}
