/** Caps of an account, held to under its lock, so that calls at the same moment do not both take the last place. */
import { capsOf, type Knowing, type Standing } from '../caps.ts';
import type { EntityManager } from '../db/orm.ts';
import { standingOf } from '../db/standing.ts';
import type { Role } from '../db/states.ts';
import { errors } from '../errors.ts';
import type { LimitName } from '../limits.ts';

export type Cap = {
  limit: LimitName;
  /** Whose cap it is: an account, or the owner of a site. */
  accountId: string;
  /** What who acts is to that account; a collaborator is told that the owner can lift the cap. */
  by?: Role;
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
 * Answers which plans it has.
 */
export async function lockAccount(tx: EntityManager, accountId: string): Promise<{ standing: Standing | undefined }> {
  const [row] = await tx.execute<{ standing: Standing }[]>(
    `select ${standingOf('account.id')} as standing from account where id = ? for no key update`,
    [accountId],
  );
  return { standing: row?.standing };
}

/** Throws `plan_limit` when the account has as many as it may. Call it in the transaction that adds one. */
export async function countWithinLimit(
  tx: EntityManager,
  deps: Knowing,
  { limit, accountId, by, count, what, holder = 'this account', nextAction }: Cap,
): Promise<void> {
  const { limits, plan, lift } = capsOf(deps, await lockAccount(tx, accountId), by);
  if ((await count()) < limits[limit]) return;
  throw errors.plan_limit(`${plan} takes ${limits[limit]} ${what}, and ${holder} has as many.`, {
    nextAction: `${nextAction} ${lift(limit)}`,
  });
}
