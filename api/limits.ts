/** Caps of an account, held to under its lock, so that calls at the same moment do not both take the last place. */

import { lockAccount } from '#db/accounts/subscription-sql.ts';
import type { EntityManager } from '#db/orm.ts';
import { type Caps, capsOf, type PlanContext } from '#rules/caps.ts';
import type { LimitName } from '#rules/limits.ts';
import type { Role } from '#rules/states.ts';
import { errors } from '#runtime/errors.ts';

export type Cap = {
  limit: LimitName;
  /** Whose cap it is: an account, or the owner of a site. */
  accountId: string;
  /** What who acts is to that account; a collaborator is told that the owner can lift the cap. */
  by?: Role;
  count(): Promise<number>;
  /** What is counted, as "sites". */
  what: string;
  /** Who has reached it, as "this site". */
  holder?: string;
  nextAction: string;
};

/** Throws `plan_limit` when the account has as many as it may. Call it in the transaction that adds one. */
export async function countWithinLimit(
  tx: EntityManager,
  deps: PlanContext,
  { limit, accountId, by, count, what, holder = 'this account', nextAction }: Cap,
): Promise<void> {
  const caps = capsOf(deps, await lockAccount(tx, accountId), by);
  if ((await count()) < caps.limits[limit]) return;
  throw errors.plan_limit(overCap(caps, { limit, what, holder }), {
    nextAction: `${nextAction} ${caps.lift(limit)}`,
  });
}

/** What is said to whom meets a cap, whoever asks. */
export function overCap(
  { limits, plan }: Pick<Caps, 'limits' | 'plan'>,
  { limit, what, holder = 'this account' }: Pick<Cap, 'limit' | 'what' | 'holder'>,
): string {
  return `${plan} has a limit of ${limits[limit]} ${what}, and ${holder} has reached it.`;
}
