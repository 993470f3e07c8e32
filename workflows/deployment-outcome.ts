/** How every workflow of a deployment ends: its row is settled, by its activities or by their failure. */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';

const { failPublish, cancelPublish } = proxyActivities<Activities>(policies.quick);

/** Runs `act`, which returns the final status of the row. If it fails or is cancelled, settles the row as that. */
export async function ensureSettled(deploymentId: string, act: () => Promise<string>): Promise<{ status: string }> {
  try {
    const status = await act();
    setCurrentDetails(`Ended: **${status}**.`);
    return { status };
  } catch (error) {
    return await CancellationScope.nonCancellable(async () => {
      if (isCancellation(error)) {
        const status = await cancelPublish(deploymentId);
        setCurrentDetails(`Stopped: **${status}**.`);
        return { status };
      }
      const { code, message } = reasonOf(error);
      setCurrentDetails(`Failed: **${code}**. ${message}`);
      return { status: await failPublish(deploymentId, code, message) };
    });
  }
}

/** Activities fail with an error code as the failure's type; anything else is an internal fault. */
function reasonOf(error: unknown): { code: string; message: string } {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.nonRetryable && cause.type)
    return { code: cause.type, message: cause.message };
  return { code: 'internal', message: 'The platform could not finish this publish.' };
}
