/** The state transitions of preview slots. Each is one transaction under the lock of the site's row. */

import { type Settled, settledAt } from '#db/deadlines.ts';
import { type AcceptanceDeps, acceptDeployment, type NewDeployment } from '#db/deployments/acceptance.ts';
import { signalNextBuilds } from '#db/deployments/build-slots.ts';
import { Deployment, type Output } from '#db/deployments/deployment.ts';
import { requireHourlyLimits } from '#db/deployments/hourly-limits.ts';
import { cancelUnfinished } from '#db/deployments/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import { startScan } from '#db/scanning/transitions.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { cancelWorkflow, signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import { draftStatusAt, isSettled, previewKeptMs, previewMarkedMs, unfinishedStatuses } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { newHostLabel, newId } from '#runtime/ids.ts';
import { Preview } from './preview.ts';

/** The slot's current preview; undefined where it has none or it was removed. */
export async function previewIn(
  em: EntityManager,
  now: Date,
  siteId: string,
  slot: number,
): Promise<Preview | undefined> {
  return (await previewsIn(em, now, siteId, [slot])).get(slot);
}

/** The current previews of those slots that have one. */
export async function previewsIn(
  em: EntityManager,
  now: Date,
  siteId: string,
  slots: readonly number[],
): Promise<Map<number, Preview>> {
  const found = await em.find(Preview, { site: siteId, slot: { $in: [...slots] }, removedAt: null }, { refresh: true });
  const current = found.filter((preview) => draftStatusAt(preview, now) !== 'removed');
  return new Map(current.map((preview) => [preview.slot, preview]));
}

/** The first labels of the hosts of the site's drafts, including expired ones. */
export async function previewLabels(em: EntityManager, siteId: string): Promise<string[]> {
  const previews = await em.find(Preview, { site: siteId, removedAt: null, deploymentId: { $ne: null } });
  return previews.map(({ label }) => label);
}

export type NewDraft = Pick<NewDeployment, 'id' | 'createdBy' | 'siteUrl'> & {
  slot: number;
  sourceCommit: string;
  contentCommit: string | null;
};

/**
 * Accepts the build of a slot's draft; it supersedes an unfinished one. Where that one has the same commits, it is
 * returned instead. A slot whose draft has expired gets a new host.
 */
export async function acceptDraft(
  tx: EntityManager,
  deps: AcceptanceDeps,
  site: Site,
  draft: NewDraft,
): Promise<Deployment> {
  const latest = await unfinishedDraft(tx, site, draft.slot);
  if (latest && isSame(latest, draft)) return latest;
  if (latest) await supersedeDraft(tx, deps.clock, latest);
  await requireHourlyLimits(tx, deps, site.account.id, 'draft');
  const deployment = await acceptDeployment(tx, deps, site, { ...draft, kind: 'draft' });
  if (latest) latest.supersededById = deployment.id;
  await ensurePreview(tx, deps.clock, site, deployment);
  return deployment;
}

/** Read from the builds and not from the slot, whose preview may expire while the build waits. */
async function unfinishedDraft(tx: EntityManager, site: Site, slot: number): Promise<Deployment | undefined> {
  const where = { site, slot, kind: 'draft', status: { $in: [...unfinishedStatuses] } } as const;
  return (await tx.findOne(Deployment, where, { refresh: true })) ?? undefined;
}

function isSame(one: Deployment, { sourceCommit, contentCommit, siteUrl }: NewDraft): boolean {
  return one.sourceCommit === sourceCommit && one.contentCommit === contentCommit && one.siteUrl === siteUrl;
}

async function supersedeDraft(tx: EntityManager, clock: Clock, latest: Deployment): Promise<void> {
  latest.status = 'superseded';
  latest.finishedAt = clock.now();
  cancelWorkflow(tx, clock, 'buildPreview', { deploymentId: latest.id });
  // The database allows one unfinished draft per slot.
  await tx.flush();
}

/** What builds may read (db/builds-role.ts): the address of a preview is enough to see its draft. */
const withoutAddress = ['id', 'slot', 'latestId', 'deploymentId', 'expiresAt', 'removedAt'] as const;

/**
 * Sets the build as the latest of the slot's preview. Creates a preview unless there is one that is shown or has the
 * status `also`.
 */
async function ensurePreview(
  tx: EntityManager,
  clock: Clock,
  site: Site,
  { id, slot }: Deployment,
  also?: 'expired',
): Promise<void> {
  const now = clock.now();
  const where = { site, slot: slot as number, removedAt: null };
  const preview = await tx.findOne(Preview, where, { fields: withoutAddress });
  const status = preview && draftStatusAt(preview, now);
  if (preview && (status === 'shown' || status === also)) {
    preview.latestId = id;
    return;
  }
  if (preview) await removePreview(tx, clock, preview);
  const label = newHostLabel('preview');
  tx.create(Preview, { id: newId('prev'), site, slot: slot as number, label, latestId: id, createdAt: now });
  await tx.flush();
}

type Ending = Pick<Preview, 'id' | 'deploymentId'>;

/** Removes the preview. Its host is never used again. */
async function removePreview(
  tx: EntityManager,
  clock: Clock,
  preview: Ending & Pick<Preview, 'removedAt'>,
): Promise<void> {
  preview.removedAt = clock.now();
  await tx.flush();
  signalExpiry(tx, clock, preview);
}

function signalExpiry(tx: EntityManager, clock: Clock, { id, deploymentId }: Ending): void {
  if (!deploymentId) return;
  signalWorkflow(tx, clock, 'expirePreview', { previewId: id }, 'moved');
}

/** Serves a built draft in its slot for 14 days. Does nothing if the deployment is settled. */
export async function storeDraft(
  em: EntityManager,
  clock: Clock,
  deploymentId: string,
  built: { output: Output; publishedOutput: Output | null; image: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    const { site: reference } = await tx.findOneOrFail(Deployment, { id: deploymentId });
    const site = await lockSite(tx, reference.id);
    const deployment = await tx.findOneOrFail(Deployment, { id: deploymentId }, { refresh: true });
    if (isSettled(deployment.status)) return;
    // If the preview was removed while builders were away for days, the slot gets a new one with a new host.
    await ensurePreview(tx, clock, site, deployment, 'expired');
    const where = { latestId: deploymentId, removedAt: null };
    const preview = await tx.findOneOrFail(Preview, where, { fields: withoutAddress });
    const { publishedOutput, image, output } = built;
    Object.assign(deployment, { ...output, publishedOutput, image, status: 'ready', finishedAt: clock.now() });
    const isFirst = !preview.deploymentId;
    preview.deploymentId = deploymentId;
    preview.expiresAt = new Date(clock.now().getTime() + previewKeptMs);
    await tx.flush();
    await signalNextBuilds(tx, clock);
    startScan(tx, clock, deployment, site.id);
    if (isFirst) startExpiry(tx, clock, site, preview);
    else signalExpiry(tx, clock, preview);
  });
}

function startExpiry(tx: EntityManager, clock: Clock, site: Site, { id, slot }: Pick<Preview, 'id' | 'slot'>): void {
  const about = {
    summary: `Expire preview ${slot} of ${site.name}`,
    site: site.id,
    account: site.account.id,
  };
  startWorkflow(tx, clock, 'expirePreview', { previewId: id }, about);
}

/** Clears the slot, and cancels its builds. */
export async function clearPreview(tx: EntityManager, clock: Clock, site: Site, slot: number): Promise<void> {
  await cancelUnfinished(tx, clock, [site], slot);
  const preview = await tx.findOne(Preview, { site, slot, removedAt: null }, { refresh: true });
  if (preview) await removePreview(tx, clock, preview);
}

/** Removes a preview that is due. Returns its status, and when that changes at the latest. */
export async function settlePreview(em: EntityManager, now: Date, id: string): Promise<Settled> {
  return await em.transactional(async (tx) => {
    const found = await tx.findOne(Preview, { id });
    if (!found) return settledAt(now, undefined);
    await lockSite(tx, found.site.id);
    const preview = await tx.findOneOrFail(Preview, { id }, { refresh: true });
    const status = draftStatusAt(preview, now);
    if (status === 'removed') preview.removedAt ??= now;
    return settledAt(now, { status, endsAt: status === 'removed' ? undefined : nextEnd(preview, status) });
  });
}

function nextEnd({ expiresAt }: Preview, status: 'shown' | 'expired'): Date {
  if (!expiresAt) throw new Error('a preview without a draft has no expiry time');
  return status === 'shown' ? expiresAt : new Date(expiresAt.getTime() + previewMarkedMs);
}

/** Removes all previews that are due, each under the lock of its site. Returns how many. */
export async function sweepPreviews(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - previewMarkedMs);
  const due = await em.find(Preview, { removedAt: null, expiresAt: { $lte: before } }, { fields: ['id'] });
  for (const { id } of due) await settlePreview(em.fork(), now, id);
  return due.length;
}
