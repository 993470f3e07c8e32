/** The step of `followSubscription`, and of the schedule that does what it should have done. */
import { queryOverdue, querySubscription } from '#db/billing/provider-queries.ts';
import type { Deps } from '#runtime/deps.ts';

export function billingActivities(deps: Deps) {
  return {
    askAboutSubscription: (id: string) => querySubscription(deps.em(), deps, id),

    /** Answers how many were late: in a healthy system none. */
    async askLateSubscriptions(): Promise<number> {
      const late = await queryOverdue(deps.em, deps);
      if (late > 0) deps.log.warn({ late, repair: 'asked' }, 'plans that are bought had nobody to follow them');
      return late;
    },
  };
}
