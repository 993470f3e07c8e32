/**
 * The state transitions of a deployment. Those that settle it or make it live are one transaction under the lock of the
 * site's row, so concurrent calls and retried activities all follow the order of the tickets.
 */

import { notifyInbox } from '#db/inbox/news.ts';
import type { EntityManager } from '#db/orm.ts';
import { startScan } from '#db/scanning/transitions.ts';
import { isChangeable } from '#db/sites/blocks.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { cancelWorkflow } from '#db/workflow-messages.ts';
import { isSettled, publishKinds, unfinishedStatuses } from '#rules/states.ts';
import { deploymentWorkflow } from '#rules/workflow-ids.ts';
import type { Clock } from '#runtime/clock.ts';
import type { ErrorBody } from '#runtime/errors.ts';
import { storable } from './build-log.ts';
import { signalNextBuilds } from './build-slots.ts';
import { Deployment, type Output } from './deployment.ts';
import { type FailureDeps, queuePublishFailed } from './failure-mails.ts';
import { supersede } from './queue.ts';

/** Of one version: as many restores as anybody looks back on. */
const maxLiveSpans = 50;

/** The site's next ticket: the order of everything that may go live. */
export async function takeTicket(em: EntityManager, siteId: string): Promise<number> {
  return await em.transactional(async (tx) => {
    const site = await lockSite(tx, siteId);
    site.lastTicket += 1;
    return site.lastTicket;
  });
}

/**
 * Cancels the unfinished deployments of the locked sites, or the drafts of one slot, with their workflows. It locks builds of other
 * sites, so afterwards the transaction changes no deployment, payment or booking.
 */
export async function cancelUnfinished(
  tx: EntityManager,
  clock: Clock,
  sites: readonly Pick<Site, 'id'>[],
  slot?: number,
): Promise<void> {
  const which = slot === undefined ? {} : { kind: 'draft' as const, slot };
  const site = { $in: sites.map(({ id }) => id) };
  const unfinished = await tx.find(Deployment, { site, status: { $in: [...unfinishedStatuses] }, ...which });
  for (const deployment of unfinished) {
    deployment.status = 'cancelled';
    deployment.finishedAt = clock.now();
    cancelWorkflow(tx, clock, deploymentWorkflow(deployment), { deploymentId: deployment.id });
  }
  await tx.flush();
  await signalNextBuilds(tx, clock);
}

/** Records that the first output file of a running build has arrived. */
export async function markStoring(em: EntityManager, deploymentId: string): Promise<void> {
  await em.execute(`update deployment set status = 'storing' where id = ? and status = 'building'`, [deploymentId]);
}

/** Records the output of a running build, before it goes live. `image`: that of the sandbox. */
export async function recordOutput(
  em: EntityManager,
  deploymentId: string,
  { manifestSha256, fileCount, totalBytes, image }: Output & { image: string },
): Promise<void> {
  await em.execute(
    `update deployment set manifest_sha256 = ?, file_count = ?, total_bytes = ?, image = ? where id = ? and status in ('building', 'storing')`,
    [manifestSha256, fileCount, totalBytes, image, deploymentId],
  );
}

type GoLive = {
  /** The ticket of a restore; a first going live uses the deployment's own. */
  restoreTicket?: number | undefined;
  /** Writes to the history, if the deployment goes live now. */
  record?(tx: EntityManager, site: Site): void;
};

/** Makes the deployment live, unless one with a later ticket is live: then it is superseded. */
export async function goLive(
  em: EntityManager,
  clock: Clock,
  deploymentId: string,
  { restoreTicket, record }: GoLive = {},
): Promise<Deployment> {
  return await em.transactional(async (tx) => {
    const { site: reference } = await tx.findOneOrFail(Deployment, { id: deploymentId });
    const site = await lockSite(tx, reference.id);
    const deployment = await tx.findOneOrFail(Deployment, { id: deploymentId }, { refresh: true });
    // A retry after a crash between commit and report: there is nothing left to do.
    if (restoreTicket === undefined && isSettled(deployment.status) && deployment.status !== 'ready') return deployment;
    if (restoreTicket === undefined && (await supersedeIfStale(tx, clock, site, deployment))) return deployment;
    const ticket = restoreTicket ?? deployment.ticket;
    if (site.liveTicket > ticket || !isChangeable(site)) return deployment;
    await movePointer(tx, clock, site, deployment, ticket);
    record?.(tx, site);
    return deployment;
  });
}

/**
 * Settles a deployment that can no longer go live, because a later one is live or the site is closed. Returns whether
 * it did.
 */
export async function supersedeIfStale(
  tx: EntityManager,
  clock: Clock,
  site: Site,
  deployment: Deployment,
): Promise<boolean> {
  const isClosed = !isChangeable(site);
  if (site.liveTicket <= deployment.ticket && !isClosed) return false;
  deployment.status = isClosed ? 'cancelled' : 'superseded';
  deployment.supersededById = isClosed ? null : site.liveDeploymentId;
  deployment.finishedAt = clock.now();
  await tx.flush();
  await signalNextBuilds(tx, clock);
  return true;
}

/** The only way to become live. The transaction holds the lock of the site's row and has checked the ticket. */
export async function movePointer(
  tx: EntityManager,
  clock: Clock,
  site: Site,
  deployment: Deployment,
  ticket: number,
): Promise<void> {
  // It may contain draft posts.
  if (deployment.kind === 'draft') throw new Error('a draft cannot go live');
  const now = clock.now();
  await tx.execute(
    `update deployment set status = 'retired', live_spans = jsonb_set(live_spans, '{-1,to}', to_jsonb(?::text))
     where site_id = ? and status = 'live' and id <> ?`,
    [now.toISOString(), site.id, deployment.id],
  );
  if (deployment.status !== 'live') {
    // By a restore too: the time that its assets outlive it starts then.
    deployment.liveAt = now;
    deployment.liveSpans = [...deployment.liveSpans, { from: now.toISOString(), to: null }].slice(-maxLiveSpans);
  }
  deployment.status = 'live';
  deployment.finishedAt ??= now;
  site.liveDeploymentId = deployment.id;
  site.liveTicket = ticket;
  await tx.flush();
  // A push that was published and a collaborator's publish are in the owner's inbox. A restore has another ticket, and may be a collaborator's too.
  const isOwners = deployment.createdBy.id === site.account.id && deployment.ticket === ticket;
  if (!isOwners || deployment.createdVia === 'git') await notifyInbox(tx, site.id);
  await supersede(
    tx,
    clock,
    { id: deployment.id, site, ticket },
    { statuses: unfinishedStatuses, kinds: publishKinds },
  );
  await signalNextBuilds(tx, clock);
  startScan(tx, clock, deployment, site.id);
}

/**
 * Settles a publish that did not go live, unless it is settled already, and tells the owner by e-mail if it failed.
 * Returns whether it did.
 */
export async function settle(
  em: EntityManager,
  deps: FailureDeps,
  deploymentId: string,
  end: { status: 'failed'; error: ErrorBody } | { status: 'cancelled' },
): Promise<boolean> {
  return await em.transactional(async (tx) => {
    const { site: reference } = await tx.findOneOrFail(Deployment, { id: deploymentId });
    await lockSite(tx, reference.id);
    const deployment = await tx.findOneOrFail(Deployment, { id: deploymentId }, { refresh: true });
    const ends = !isSettled(deployment.status);
    if (ends) {
      deployment.status = end.status;
      deployment.error = end.status === 'failed' ? storableError(end.error) : null;
      deployment.finishedAt = deps.clock.now();
      await tx.flush();
    }
    await signalNextBuilds(tx, deps.clock);
    if (ends && end.status === 'failed') await queuePublishFailed(tx, deps, deployment);
    return ends;
  });
}

function storableError(error: ErrorBody): ErrorBody {
  return { ...error, message: storable(error.message.slice(0, 4000)) };
}
