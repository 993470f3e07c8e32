/**
 * The life of a preview slot.
 *
 * buildPreview, `preview-build:<deployment>`: from an accepted draft to the version that the host of the preview slot serves. Like
 * `publishSite`, but without its queue: a newer draft of the slot supersedes it. It ends when the row is settled; terminating it leaves the row
 * to the reconciler.
 *
 * publishPreview, `preview-publish:<deployment>`: fast-forwards `main` of both repositories to the commits of the slot and puts the bytes live
 * that were built for the preview. Durable because git and the database share no transaction: after a crash between them, the deployment
 * still ends exactly once, as live, superseded or failed with its reason. If it is stuck, the last failure of its activity says why. Terminating it
 * leaves the row to the reconciler.
 *
 * expirePreview, `preview-expiry:<preview>`: marks a draft for removal 14 days after its build, and removes it a week later. Every reader
 * checks both deadlines itself: if this is stuck or terminated, nothing is shown for longer, and the hourly sweep records the removal.
 */
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { waitForBuildTurn } from './build-turn.ts';
import { ensureSettled } from './deployment-outcome.ts';
import * as policies from './policies.ts';
import { watchRow } from './watch-row.ts';

const { putDraft, publishSlot, settlePreview } = proxyActivities<Activities>(policies.quick);
const { snapshotSource } = proxyActivities<Activities>(policies.snapshot);
const { buildSite } = proxyActivities<Activities>(policies.build);

export async function buildPreview({ deploymentId }: { deploymentId: string }): Promise<{ status: string }> {
  return await ensureSettled(deploymentId, async () => {
    const ended = await waitForBuildTurn(deploymentId);
    if (ended !== undefined) return ended;
    setCurrentDetails('Reading both repositories.');
    await snapshotSource.executeWithOptions({ summary: 'read both commits, with and without drafts' }, [deploymentId]);
    setCurrentDetails(`Building in the sandbox. Log: \`GET /v1/deployments/${deploymentId}/log\`.`);
    await buildSite.executeWithOptions({ summary: 'build both in the sandbox, store the output' }, [deploymentId]);
    return await putDraft.executeWithOptions({ summary: 'show the draft in the preview slot' }, [deploymentId]);
  });
}

export async function publishPreview({ deploymentId }: { deploymentId: string }): Promise<{ status: string }> {
  return await ensureSettled(deploymentId, async () => {
    setCurrentDetails('Fast-forwarding `main` to the preview’s commits, then switching the live version.');
    return await publishSlot.executeWithOptions({ summary: 'fast-forward main, then switch the live version' }, [
      deploymentId,
    ]);
  });
}

export async function expirePreview({ previewId }: { previewId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settlePreview.executeWithOptions({ summary: 'check the preview' }, [previewId]),
    (status) => (status === 'shown' ? 'Available until it expires.' : 'Marked for removal.'),
  );
}
