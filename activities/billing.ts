/** The activities of `followSubscription`, and of the schedule that replaces its lost workflows. */
import { queryOverdue, querySubscription } from '#db/billing/provider-queries.ts';
import type { Deps } from '#runtime/deps.ts';

export function billingActivities(deps: Deps) {
  return {
    askAboutSubscription: (id: string) => querySubscription(deps.em(), deps, id),

    /** Returns the number of overdue subscriptions: 0 in a healthy system. */
    async askLateSubscriptions(): Promise<number> {
      const late = await queryOverdue(deps.em, deps);
      if (late > 0)
        deps.log.warn({ late, repair: 'asked' }, 'checked overdue subscriptions whose workflow was not running');
      return late;
    },
  };
}
