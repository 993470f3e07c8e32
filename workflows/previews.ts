/**
 * The life of a preview slot.
 *
 * buildPreview, `preview-build:<deployment>`: from an accepted draft to the version that the host of the preview slot serves. Like
 * `publishSite`, but without its queue: a newer draft of the slot supersedes it. It ends when the row is settled; terminating it leaves the row
 * to the reconciler.
 *
 * publishPreview, `preview-publish:<deployment>`: fast-forwards `main` of both repositories to the commits of the slot and puts the bytes live
 * that were built for the preview. Durable because git and the database share no transaction: after a crash between them, the deployment
 * still ends exactly once, as live, superseded or failed with its reason. If it is stuck, the last failure of its activity says why.
 *
 * expirePreview, `preview-expiry:<preview>`: marks a draft for removal 14 days after its build, and removes it a week later. Every reader
 * checks both deadlines itself: if this is stuck or terminated, nothing is shown for longer, and the hourly sweep records the removal.
 */
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { watchRow } from './deadlines.ts';
import { ensureSettled } from './deployment-outcome.ts';
import * as policies from './policies.ts';

const { claimBuild, putDraft, publishSlot, settlePreview } = proxyActivities<Activities>(policies.quick);
const { snapshotSource } = proxyActivities<Activities>(policies.snapshot);
const { buildSite } = proxyActivities<Activities>(policies.build);

export async function buildPreview({ deploymentId }: { deploymentId: string }): Promise<{ status: string }> {
  return await ensureSettled(deploymentId, async () => {
    const turn = await claimBuild.executeWithOptions({ summary: 'claim the build' }, [deploymentId]);
    if (turn.turn === 'none') return turn.because;
    setCurrentDetails('Reads both repositories.');
    await snapshotSource.executeWithOptions({ summary: 'both commits, with drafts and without' }, [deploymentId]);
    setCurrentDetails(`Builds in the sandbox. The log: \`GET /v1/deployments/${deploymentId}/log\`.`);
    await buildSite.executeWithOptions({ summary: 'sandboxed builds, output to the store' }, [deploymentId]);
    return await putDraft.executeWithOptions({ summary: 'the slot serves it' }, [deploymentId]);
  });
}

export async function publishPreview({ deploymentId }: { deploymentId: string }): Promise<{ status: string }> {
  return await ensureSettled(deploymentId, async () => {
    setCurrentDetails('Fast-forwards `main` to the slot, then switches the live version.');
    return await publishSlot.executeWithOptions({ summary: 'merge, then move the pointer' }, [deploymentId]);
  });
}

export async function expirePreview({ previewId }: { previewId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settlePreview.executeWithOptions({ summary: 'check the preview' }, [previewId]),
    (status) => (status === 'shown' ? 'Shown until it expires.' : 'Marked for removal.'),
  );
}
