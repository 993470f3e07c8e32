/**
 * publishSite: from an accepted publish to the live version.
 *
 * Key: `publish:<deployment>`. Durable because a build outlives a worker: whatever is killed, the deployment ends exactly once, as live,
 * superseded, cancelled or failed with its reason. The row is the truth: each activity reads it first and does nothing if it is settled.
 * The workflow ends when the row is settled. If it is stuck, its details say what it waits for. Cancelling it stops the container and ends
 * the deployment as cancelled. Terminating it leaves the row to the reconciler, which fails it within two minutes.
 */
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { waitForBuildTurn } from './build-turn.ts';
import { ensureSettled } from './deployment-outcome.ts';
import * as policies from './policies.ts';

const { putLive } = proxyActivities<Activities>(policies.quick);
const { snapshotSource } = proxyActivities<Activities>(policies.snapshot);
const { buildSite } = proxyActivities<Activities>(policies.build);

export async function publishSite({ deploymentId }: { deploymentId: string }): Promise<{ status: string }> {
  return await ensureSettled(deploymentId, async () => {
    const ended = await waitForBuildTurn(deploymentId);
    if (ended !== undefined) return ended;
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
