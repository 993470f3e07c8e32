/** How a step says that its work failed for good. */
import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '#runtime/errors.ts';

/** An expected failure ends the workflow's step for good, with its code as the failure's type; anything else is tried again. */
export async function nonRetryable<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof AppError && !error.retryable) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}
