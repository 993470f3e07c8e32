/** Handles activities of a newer release during an upgrade, while old and new workers run side by side. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/**
 * The default for every unknown activity. Activities have few attempts, usually six, which old workers would use up in
 * seconds. With a minute between them, the attempts outlast the replacement of the workers.
 */
export async function unknownActivity(): Promise<never> {
  const { activityType } = Context.current().info;
  throw ApplicationFailure.create({
    type: 'unknown_activity',
    message: `${activityType} is not an activity of this worker's version`,
    nextRetryDelay: '1 minute',
    category: ApplicationFailureCategory.BENIGN,
  });
}
