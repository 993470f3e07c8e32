/**
 * publishSite: from an accepted publish to the pointer that visitors follow.
 *
 * Key: `publish:<deployment>`. Durable because a build outlives a worker: whatever is killed, the deployment ends live, superseded,
 * cancelled or failed with its reason, once. The row is the truth; each step reads it and does nothing where it is settled.
 * Ends when the row is settled. If it is stuck: the details say what it waits for. Cancelling the workflow stops the container and
 * ends the deployment as cancelled; terminating it leaves the row to the reconciler, which fails it within two minutes.
 */
import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { ensureSettled } from './deployment-outcome.ts';
import * as policies from './policies.ts';

/** Said to the oldest waiting publish of a site when the one before it has ended. */
export const turnSignal = defineSignal('turn');

const { claimBuild, putLive } = proxyActivities<Activities>(policies.quick);
const { snapshotSource } = proxyActivities<Activities>(policies.snapshot);
const { buildSite } = proxyActivities<Activities>(policies.build);

export async function publishSite({ deploymentId }: { deploymentId: string }): Promise<{ status: string }> {
  let called = false;
  setHandler(turnSignal, () => {
    called = true;
  });
  return await ensureSettled(deploymentId, async () => {
    for (;;) {
      called = false;
      const turn = await claimBuild.executeWithOptions({ summary: 'is it our turn?' }, [deploymentId]);
      if (turn.turn === 'none') return turn.because;
      if (turn.turn === 'build') break;
      setCurrentDetails(`Waits for **${turn.for}**, which was accepted before it, to end.`);
      await condition(() => called, '30 seconds');
    }
    setCurrentDetails('Reads both repositories and takes the drafts out.');
    await snapshotSource.executeWithOptions({ summary: 'both heads, without drafts' }, [deploymentId]);
    setCurrentDetails(
      `Builds in the sandbox and stores the output. The log: \`GET /v1/deployments/${deploymentId}/log\`.`,
    );
    await buildSite.executeWithOptions({ summary: 'sandboxed build, output to the store' }, [deploymentId]);
    setCurrentDetails('Moves the pointer that visitors follow.');
    return await putLive.executeWithOptions({ summary: 'move the pointer' }, [deploymentId]);
  });
}
