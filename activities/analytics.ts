/** The roll-up of page views. */
import { Context } from '@temporalio/activity';
import { type Rolled, rollUpViews } from '#db/analytics/roll-up.ts';
import type { Deps } from '#runtime/deps.ts';

export function analyticsActivities({ em, clock }: Pick<Deps, 'em' | 'clock'>) {
  return {
    async rollUpViews(): Promise<Rolled> {
      const context = Context.current();
      return await rollUpViews(em, clock.now(), (siteId) => {
        context.cancellationSignal.throwIfAborted();
        context.heartbeat(siteId);
      });
    },
  };
}
