/** The activity of `mailOwners`. */
import { queueWaitingComments } from '#db/comments/waiting-mails.ts';
import { queueWeeklySummaries } from '#db/summaries/mails.ts';
import type { Deps } from '#runtime/deps.ts';

export function ownerMailActivities(deps: Pick<Deps, 'em' | 'clock' | 'config'>) {
  return {
    /** Queues the e-mails to owners that no call causes. A repetition queues what is left. */
    async queueOwnerMails(): Promise<{ comments: number; summaries: number }> {
      const result = { comments: 0, summaries: 0 };
      try {
        result.comments = await queueWaitingComments(deps);
      } finally {
        result.summaries = await queueWeeklySummaries(deps);
      }
      return result;
    },
  };
}
