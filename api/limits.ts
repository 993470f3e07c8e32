/** Caps of an account, held to under its lock, so that calls at the same moment do not both take the last place. */
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

/**
 * Holds the account until the transaction ends: everything that counts for it stands in line here. Rows that merely name the account (a
 * deployment that it made on another's site) are not kept waiting, or two who work on each other's sites would wait for each other.
 */
export async function lockAccount(tx: EntityManager, accountId: string): Promise<void> {
  await tx.execute('select 1 from account where id = ? for no key update', [accountId]);
}

/** Throws `plan_limit` when the account has as many as it may. Call it in the transaction that adds one. */
export async function countWithinLimit(
  tx: EntityManager,
  accountId: string,
  { limit, count, what, holder = 'this account', nextAction }: Cap,
): Promise<void> {
  await lockAccount(tx, accountId);
  if ((await count()) < limit) return;
  throw errors.plan_limit(`The plan takes ${limit} ${what}, and ${holder} has as many.`, { nextAction });
}
