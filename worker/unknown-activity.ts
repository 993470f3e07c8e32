/** What a worker says to a step that it does not know: one of a newer release, whose workers run beside it until it is replaced too. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';

/**
 * Stands for every step that has no other. A step has few tries, as a rule six, which would be used up in seconds while old workers take them:
 * a minute between them lasts longer than the workers of an installation take to be replaced.
 */
export async function unknownActivity(): Promise<never> {
  const { activityType } = Context.current().info;
  throw ApplicationFailure.create({
    type: 'unknown_step',
    message: `${activityType} is no step of this worker's version`,
    nextRetryDelay: '1 minute',
    category: ApplicationFailureCategory.BENIGN,
  });
}
