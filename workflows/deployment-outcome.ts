/** How every workflow of a deployment ends: its row is settled, by its steps or by what went wrong with them. */
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

/** Runs the steps, which answer how the row ended. Where they fail or are cancelled, the row is ended as that. */
export async function ensureSettled(deploymentId: string, steps: () => Promise<string>): Promise<{ status: string }> {
  try {
    const status = await steps();
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

/** Activities fail with a code of the error catalog as the failure's type; anything else is our own fault. */
function reasonOf(error: unknown): { code: string; message: string } {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && cause.nonRetryable && cause.type)
    return { code: cause.type, message: cause.message };
  return { code: 'internal', message: 'The platform could not finish this publish.' };
}
