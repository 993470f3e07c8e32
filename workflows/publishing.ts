/**
 * publishSite: from an accepted publish to the live version.
 *
 * Key: `publish:<deployment>`. Durable because a build outlives a worker: whatever is killed, the deployment ends exactly once, as live,
 * superseded, cancelled or failed with its reason. The row is the truth: each activity reads it first and does nothing if it is settled.
 * The workflow ends when the row is settled. If it is stuck, its details say what it waits for. Cancelling it stops the container and ends
 * the deployment as cancelled. Terminating it leaves the row to the reconciler, which fails it within two minutes.
 */
import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { ensureSettled } from './deployment-outcome.ts';
import * as policies from './policies.ts';

/** Sent to a site's oldest waiting publish when the previous one has ended. */
const turnSignal = defineSignal('turn');

const { claimBuild, putLive } = proxyActivities<Activities>(policies.quick);
const { snapshotSource } = proxyActivities<Activities>(policies.snapshot);
const { buildSite } = proxyActivities<Activities>(policies.build);

export async function publishSite({ deploymentId }: { deploymentId: string }): Promise<{ status: string }> {
  let isSignalled = false;
  setHandler(turnSignal, () => {
    isSignalled = true;
  });
  return await ensureSettled(deploymentId, async () => {
    for (;;) {
      isSignalled = false;
      const turn = await claimBuild.executeWithOptions({ summary: 'claim the build, or wait' }, [deploymentId]);
      if (turn.turn === 'none') return turn.because;
      if (turn.turn === 'build') break;
      setCurrentDetails(`Waiting for **${turn.for}**, which was accepted earlier, to end.`);
      await condition(() => isSignalled, '30 seconds');
    }
    setCurrentDetails('Reading both repositories, without drafts.');
    await snapshotSource.executeWithOptions({ summary: 'read both branch heads, without drafts' }, [deploymentId]);
    setCurrentDetails(
      `Building in the sandbox and storing the output. Log: \`GET /v1/deployments/${deploymentId}/log\`.`,
    );
    await buildSite.executeWithOptions({ summary: 'build in the sandbox, store the output' }, [deploymentId]);
    setCurrentDetails('Switching the live version.');
    return await putLive.executeWithOptions({ summary: 'switch the live version' }, [deploymentId]);
  });
}
