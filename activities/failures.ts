/** Failures of activities. */
import { ApplicationFailure } from '@temporalio/common';
import { AppError } from '#runtime/errors.ts';

/** Turns an error that no retry can fix into a non-retryable failure, with the error code as its type. Other errors are retried. */
export async function nonRetryable<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof AppError && !error.retryable) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  }
}
