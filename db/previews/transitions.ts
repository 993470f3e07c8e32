/**
 * The moves of preview slots: a draft is accepted, kept, published, cleared, and runs out. As those of deployments, each is one transaction
 * under the lock of the site's row.
 */

import { Account } from '#db/accounts/account.ts';
import { type Settled, settledAt } from '#db/deadlines.ts';
import { Deployment, type Output } from '#db/deployments/deployment.ts';
import { type AcceptedPublish, cancelUnfinished, type Pinned } from '#db/deployments/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import { startScan } from '#db/scanning/transitions.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { cancelWorkflow, signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import { draftStatusAt, isSettled, previewKeptMs, previewMarkedMs, unfinishedStatuses } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { newHostLabel, newId } from '#runtime/ids.ts';
import { Preview } from './preview.ts';

/** The slot's present life; undefined where it is over or has not begun. */
export async function previewIn(
  em: EntityManager,
  now: Date,
  siteId: string,
  slot: number,
): Promise<Preview | undefined> {
  const preview = await em.findOne(Preview, { site: siteId, slot, removedAt: null }, { refresh: true });
  return preview && draftStatusAt(preview, now) !== 'removed' ? preview : undefined;
}

/** First labels of the hosts that drafts of the site have; one that ran out shows nothing there. */
export async function previewLabels(em: EntityManager, siteId: string): Promise<string[]> {
  const previews = await em.find(Preview, { site: siteId, removedAt: null, deploymentId: { $ne: null } });
  return previews.map(({ label }) => label);
}

export type AcceptedDraft = Pick<AcceptedPublish, 'id' | 'siteId' | 'createdBy' | 'pin' | 'requireRoom'> & {
  slot: number;
};

/**
 * Accepts the build of a slot's draft, in place of one that is not finished. Where that one is of the same commits, it is answered
 * instead. A slot that ran out begins anew, on another host. Undefined when the site was archived meanwhile.
 */
export async function acceptDraft(
  em: EntityManager,
  clock: Clock,
  draft: AcceptedDraft,
): Promise<Deployment | undefined> {
  return await em.transactional(async (tx) => {
    const site = await lockSite(tx, draft.siteId);
    if (site.status === 'archived') return undefined;
    const { hostname, ...pinned } = await draft.pin(tx, site);
    const latest = await unfinishedDraft(tx, site, draft.slot);
    if (latest && isSame(latest, pinned)) return latest;
    await tx.execute('select 1 from account where id = ? for no key update', [site.account.id]);
    await draft.requireRoom(tx, site);
    if (latest) giveWay(tx, clock, latest);
    site.lastNumber += 1;
    await tx.flush();
    const deployment = tx.create(Deployment, {
      ...pinned,
      id: draft.id,
      site,
      number: site.lastNumber,
      kind: 'preview',
      slot: draft.slot,
      status: 'queued',
      ticket: 0,
      createdBy: tx.getReference(Account, draft.createdBy),
      createdAt: clock.now(),
    });
    await tx.flush();
    if (latest) latest.supersededById = deployment.id;
    await beginOrGoOn(tx, clock, site, deployment);
    const summary = `Preview ${draft.slot} of ${hostname}, version ${deployment.number}`;
    const about = { summary, site: site.id, account: site.account.id, hostname };
    startWorkflow(tx, clock, 'buildPreview', { deploymentId: deployment.id }, about);
    return deployment;
  });
}

/** Asked of the builds and not of the slot, whose life may have run out while this one waits. */
async function unfinishedDraft(tx: EntityManager, site: Site, slot: number): Promise<Deployment | undefined> {
  const where = { site, slot, kind: 'preview', ticket: 0, status: { $in: [...unfinishedStatuses] } } as const;
  return (await tx.findOne(Deployment, where, { refresh: true })) ?? undefined;
}

function isSame(one: Deployment, pinned: Omit<Pinned, 'hostname'>): boolean {
  const { sourceCommit, contentCommit, siteUrl } = pinned;
  return one.sourceCommit === sourceCommit && one.contentCommit === contentCommit && one.siteUrl === siteUrl;
}

function giveWay(tx: EntityManager, clock: Clock, latest: Deployment): void {
  latest.status = 'superseded';
  latest.finishedAt = clock.now();
  cancelWorkflow(tx, clock, 'buildPreview', { deploymentId: latest.id });
}

/** `also`: what else than a slot that is shown goes on as it is. */
async function beginOrGoOn(
  tx: EntityManager,
  clock: Clock,
  site: Site,
  { id, slot }: Deployment,
  also?: 'expired',
): Promise<void> {
  const now = clock.now();
  const preview = await tx.findOne(Preview, { site, slot: slot as number, removedAt: null });
  const status = preview && draftStatusAt(preview, now);
  if (preview && (status === 'shown' || status === also)) {
    preview.latestId = id;
    return;
  }
  if (preview) await endLife(tx, clock, preview);
  const label = newHostLabel('preview');
  tx.create(Preview, { id: newId('prev'), site, slot: slot as number, label, latestId: id, createdAt: now });
  await tx.flush();
}

/** Its host shows nothing any more, and is nobody's ever after. */
async function endLife(tx: EntityManager, clock: Clock, preview: Preview): Promise<void> {
  preview.removedAt = clock.now();
  await tx.flush();
  tellExpiry(tx, clock, preview);
}

function tellExpiry(tx: EntityManager, clock: Clock, { id, deploymentId }: Preview): void {
  if (!deploymentId) return;
  signalWorkflow(tx, clock, 'expirePreview', { previewId: id }, 'moved');
}

/** A draft that is built becomes what its slot serves, and its 14 days begin. Does nothing where the deployment has ended. */
export async function keepDraft(
  em: EntityManager,
  clock: Clock,
  deploymentId: string,
  built: { output: Output; withoutDrafts: Output | null; image: string },
): Promise<void> {
  await em.transactional(async (tx) => {
    const { site: reference } = await tx.findOneOrFail(Deployment, { id: deploymentId });
    const site = await lockSite(tx, reference.id);
    const deployment = await tx.findOneOrFail(Deployment, { id: deploymentId }, { refresh: true });
    if (isSettled(deployment.status)) return;
    // The life that it was accepted for may have run out while builders were away for days: then it begins another one, on another host.
    await beginOrGoOn(tx, clock, site, deployment, 'expired');
    const preview = await tx.findOneOrFail(Preview, { latestId: deploymentId, removedAt: null });
    const { withoutDrafts, image, output } = built;
    Object.assign(deployment, { ...output, withoutDrafts, image, status: 'ready', finishedAt: clock.now() });
    const isFirst = !preview.deploymentId;
    preview.deploymentId = deploymentId;
    preview.expiresAt = new Date(clock.now().getTime() + previewKeptMs);
    await tx.flush();
    startScan(tx, clock, deployment, site.id);
    if (isFirst) startExpiry(tx, clock, site, preview);
    else tellExpiry(tx, clock, preview);
  });
}

function startExpiry(tx: EntityManager, clock: Clock, site: Site, { id, slot }: Preview): void {
  const about = {
    summary: `Preview ${slot} of ${site.name} until it expires`,
    site: site.id,
    account: site.account.id,
  };
  startWorkflow(tx, clock, 'expirePreview', { previewId: id }, about);
}

/** Empties the slot, and stops what is being built for it. */
export async function clearPreview(tx: EntityManager, clock: Clock, site: Site, slot: number): Promise<void> {
  await cancelUnfinished(tx, clock, site, slot);
  const preview = await tx.findOne(Preview, { site, slot, removedAt: null }, { refresh: true });
  if (preview) await endLife(tx, clock, preview);
}

/** Writes down that a draft is past its time, if it is. Answers what it is, and for how long it stays so at most. */
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
  if (!expiresAt) throw new Error('a preview without a draft has no end');
  return status === 'shown' ? expiresAt : new Date(expiresAt.getTime() + previewMarkedMs);
}

/** Writes down the removal of all that are past it. Answers how many. */
export async function sweepPreviews(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - previewMarkedMs);
  return await em.nativeUpdate(Preview, { removedAt: null, expiresAt: { $lte: before } }, { removedAt: now });
}
