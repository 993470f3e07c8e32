/**
 * Plan limits of an account. They are checked under the account's lock, so that concurrent requests do not both use the
 * last place.
 */

import { lockAccount } from '#db/accounts/lock.ts';
import type { EntityManager } from '#db/orm.ts';
import type { LimitName } from '#rules/limit-names.ts';
import { type PlanLimits, planLimitsOf } from '#rules/plan-limits.ts';
import type { Role } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';

export type CountedLimit = {
  limit: LimitName;
  /** The account whose plan has the limit: the caller's, or that of the site's owner. */
  accountId: string;
  /** The caller's role. A collaborator's error message refers to the owner. */
  by?: Role;
  count(): Promise<number>;
  /** The counted items, as "sites". */
  what: string;
  /** The subject of the message, as "this site". */
  holder?: string;
  nextAction: string;
};

/** Throws `plan_limit` when the limit is reached. Call it in the transaction that adds an item. */
export async function countWithinLimit(
  tx: EntityManager,
  deps: Pick<Deps, 'clock' | 'config'>,
  { limit, accountId, by, count, what, holder = 'this account', nextAction }: CountedLimit,
): Promise<void> {
  const planLimits = planLimitsOf(deps.config, await lockAccount(tx, accountId), deps.clock.now(), by);
  if ((await count()) < planLimits.limits[limit]) return;
  throw errors.plan_limit(limitReachedMessage(planLimits, { limit, what, holder }), {
    nextAction: `${nextAction} ${planLimits.lift(limit)}`,
  });
}

/** The message for a reached limit. */
export function limitReachedMessage(
  { limits, plan }: Pick<PlanLimits, 'limits' | 'plan'>,
  { limit, what, holder = 'this account' }: Pick<CountedLimit, 'limit' | 'what' | 'holder'>,
): string {
  return `${plan} has a limit of ${limits[limit]} ${what}, and ${holder} has reached it.`;
}
