/** Publishes of preview slots. They put the files live that were built when the slot was previewed. */

import { type AcceptanceDeps, acceptDeployment, type NewDeployment } from '#db/deployments/acceptance.ts';
import { type BranchHeads, Deployment, type Output } from '#db/deployments/deployment.ts';
import { requireHourlyLimits } from '#db/deployments/hourly-limits.ts';
import { movePointer, supersedeIfStale } from '#db/deployments/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { isSettled } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';

export type NewPreviewPublish = Pick<NewDeployment, 'id' | 'createdBy'> & {
  draft: Deployment;
  /** The heads of both `main` branches, which the publish moves to the draft's commits. */
  mains: BranchHeads;
};

/** The files of a version, those of a draft without draft posts. */
export function publishedOutputOf({ publishedOutput, manifestSha256, fileCount, totalBytes }: Deployment): Output {
  if (publishedOutput) return publishedOutput;
  if (!manifestSha256) throw new Error('the build has no manifest');
  return { manifestSha256, fileCount: fileCount ?? 0, totalBytes: totalBytes ?? 0 };
}

/** Accepts the publish of a preview slot. If the same draft is already being published, that deployment is returned. */
export async function acceptPreviewPublish(
  tx: EntityManager,
  deps: AcceptanceDeps,
  site: Site,
  { draft, mains, ...publish }: NewPreviewPublish,
): Promise<Deployment> {
  const same = (await unfinishedPreviewPublishes(tx, site.id)).find((one) => isOf(one, draft));
  if (same) return same;
  await requireHourlyLimits(tx, deps, site.account.id, 'preview');
  return await acceptDeployment(tx, deps, site, {
    ...publish,
    ...publishedOutputOf(draft),
    kind: 'preview',
    slot: draft.slot ?? null,
    expectedHeads: mains,
    sourceCommit: draft.sourceCommit ?? null,
    contentCommit: draft.contentCommit ?? null,
    image: draft.image ?? null,
    siteUrl: draft.siteUrl,
    startedAt: deps.clock.now(),
  });
}

function isOf(publish: Deployment, draft: Deployment): boolean {
  return publish.slot === draft.slot && publish.manifestSha256 === publishedOutputOf(draft).manifestSha256;
}

/**
 * Makes the publish of a slot live, after its commits are on `main`. If a later deployment is live or the site is
 * archived, it is settled instead, and its commits stay in the slot. Idempotent.
 */
export async function publishPreview(
  em: EntityManager,
  clock: Clock,
  deploymentId: string,
  fastForwardMain: (deployment: Deployment) => Promise<void>,
): Promise<Deployment> {
  return await em.transactional(async (tx) => {
    const { site: reference } = await tx.findOneOrFail(Deployment, { id: deploymentId });
    const site = await lockSite(tx, reference.id);
    const deployment = await tx.findOneOrFail(Deployment, { id: deploymentId }, { refresh: true });
    if (isSettled(deployment.status) || (await supersedeIfStale(tx, clock, site, deployment))) return deployment;
    await fastForwardMain(deployment);
    await movePointer(tx, clock, site, deployment, deployment.ticket);
    return deployment;
  });
}

/** The unfinished publishes of the site's preview slots, the earliest first. */
export async function unfinishedPreviewPublishes(tx: EntityManager, siteId: string): Promise<Deployment[]> {
  const where = { site: siteId, kind: 'preview', status: 'queued' } as const;
  return await tx.find(Deployment, where, { orderBy: { ticket: 'asc' }, refresh: true });
}
