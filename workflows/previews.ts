/**
 * The life of a preview slot.
 *
 * buildPreview, `preview-build:<deployment>`: from an accepted draft to what the slot's host serves. As `publishSite`, beside it, and without
 * its queue: a newer draft of the slot takes its place. Ends when the row is settled; terminating it leaves the row to the reconciler.
 *
 * publishPreview, `preview-publish:<deployment>`: brings the slot's work onto `main` of both repositories and puts the bytes live that were
 * built when it was previewed. Durable because git and the database share no transaction: whatever is killed between them, the
 * deployment ends live, superseded or failed with its reason, once. If it is stuck: its activity's last failure says why.
 *
 * expirePreview, `preview-expiry:<preview>`: a draft is marked 14 days after its build, and removed a week later. Readers judge both
 * by themselves; if it is stuck or terminated, nothing is shown for longer, and the hourly sweep writes the removal down.
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
    const turn = await claimBuild.executeWithOptions({ summary: 'begin' }, [deploymentId]);
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
    setCurrentDetails('Brings the work of the slot onto `main`, and moves the pointer that visitors follow.');
    return await publishSlot.executeWithOptions({ summary: 'merge, then move the pointer' }, [deploymentId]);
  });
}

export async function expirePreview({ previewId }: { previewId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settlePreview.executeWithOptions({ summary: 'is it still shown?' }, [previewId]),
    (status) => (status === 'shown' ? 'Shown until its time is over.' : 'Marked for removal.'),
  );
}
