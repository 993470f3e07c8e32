/** The rules of a publish: what is built, and when there is nothing to build. */

import { type Actor, loadSite, lockChangeable, requireChangeable } from '#api/access.ts';
import { requireRepositories } from '#api/source/commits.ts';
import { acceptPublish } from '#db/deployments/acceptance.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { requireHourlyLimits } from '#db/deployments/hourly-limits.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { unfinishedPreviewPublishes } from '#db/previews/publishes.ts';
import type { Site } from '#db/sites/site.ts';
import { liveDeploymentOf } from '#db/sites/transitions.ts';
import { fastForwardMain } from '#git/main-branches.ts';
import { withGitOutside } from '#git/outside-transaction.ts';
import type { Repositories } from '#providers/repositories.ts';
import { buildImageId } from '#providers/sandbox/image/identity.ts';
import { call } from '#rules/calls/calls.ts';
import { unfinishedStatuses } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';

type Pinned = { sourceCommit: string; contentCommit: string | null; siteUrl: string };

export type Publish = {
  /** Id of the new deployment. */
  id: string;
  siteId: string;
  scope: 'site' | 'posts';
  /** Build even if the live version has the same source. */
  noCache: boolean;
};

/**
 * Accepts a publish of both current heads. Returns the live deployment if it was built from exactly these commits, and
 * the latest one in progress if it is being built from them.
 * Throws `site_archived`, `no_source`, `no_live_version`, `no_live_source`, `rate_limited`.
 */
export async function publish(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, siteId, scope, noCache }: Publish,
): Promise<Deployment> {
  const site = await loadSite(em, actor, siteId);
  requireChangeable(site);
  const live = await liveDeploymentOf(em, site);
  const wanted = await pinned(em, deps, site, { scope, live });
  if (!noCache && live && (await isSame(em, live, wanted))) return live;
  const accept = async (tx: EntityManager, repositories: Repositories) => {
    const locked = await lockChangeable(tx, siteId);
    await requireHourlyLimits(tx, deps, locked.account.id, scope);
    // Under the lock, so that a later ticket never has an earlier head.
    await fastForwardSlots(tx, repositories, locked);
    const commits = await pinned(tx, deps, locked, { scope, live });
    const same = noCache ? null : await sameInProgress(tx, locked, scope, commits);
    if (same) return same;
    const accepted = await acceptPublish(tx, deps, locked, { ...commits, id, kind: scope, noCache, createdBy: actor });
    const detail = { deployment_id: id, number: accepted.number, scope };
    recordAct(tx, deps.clock, actor, 'site.published', { site: locked, detail });
    return accepted;
  };
  return await withGitOutside(requireRepositories(deps), (repositories) =>
    em.transactional((tx) => accept(tx, repositories)),
  );
}

/** The latest publish, if it is not finished and builds the same. One with fresh caches is not joined. */
async function sameInProgress(
  tx: EntityManager,
  { id, lastTicket }: Site,
  kind: Publish['scope'],
  { sourceCommit, contentCommit, siteUrl }: Pinned,
): Promise<Deployment | null> {
  const latest = { site: id, ticket: lastTicket, status: { $in: [...unfinishedStatuses] } };
  return await tx.findOne(Deployment, { ...latest, kind, sourceCommit, contentCommit, siteUrl, noCache: false });
}

/** A preview slot whose publish was accepted earlier is part of this one, even if its workflow has not run yet. */
async function fastForwardSlots(tx: EntityManager, repositories: Repositories, site: Site): Promise<void> {
  for (const one of await unfinishedPreviewPublishes(tx, site.id)) {
    const to = { source: one.sourceCommit ?? null, content: one.contentCommit ?? null };
    if (one.expectedHeads) await fastForwardMain(repositories, site.id, { from: one.expectedHeads, to });
  }
}

/** The commits that a publish accepted now is built from. */
async function pinned(
  em: EntityManager,
  deps: Deps,
  site: Site,
  { scope, live }: { scope: Publish['scope']; live: Deployment | null },
): Promise<Pinned> {
  const { address: siteUrl } = await canonicalUrl(em, deps.config, site);
  return { ...(await pinnedCommits(deps, site, scope, live)), siteUrl };
}

async function pinnedCommits(deps: Deps, site: Site, scope: Publish['scope'], live: Deployment | null) {
  const repositories = requireRepositories(deps);
  const contentCommit = await repositories.head(site.id, 'content');
  if (scope === 'posts') return { sourceCommit: await liveSource(repositories, site, live), contentCommit };
  const sourceCommit = await repositories.head(site.id, 'source');
  if (!sourceCommit) {
    throw errors.no_source(`The site ${site.name} has no source yet.`, {
      nextAction: 'Push to the main branch of the site’s git repository, then publish.',
    });
  }
  return { sourceCommit, contentCommit };
}

async function liveSource(repositories: Repositories, site: Site, live: Deployment | null): Promise<string> {
  const nextAction = `Publish the whole site with ${call('site.publish', { id: site, scope: 'site' })}.`;
  if (!live)
    throw errors.no_live_version(`The site ${site.name} is not live yet; publishing posts requires a live site.`, {
      nextAction,
    });
  const commit = live.sourceCommit;
  if (!commit || !(await repositories.hasCommit(site.id, 'source', commit))) {
    throw errors.no_live_source('The live version was not built from the source in the site’s repository.', {
      nextAction,
    });
  }
  return commit;
}

/** Whether the live version equals what this publish would build, and nothing else is in progress. */
async function isSame(em: EntityManager, live: Deployment, wanted: Pinned): Promise<boolean> {
  if (
    live.sourceCommit !== wanted.sourceCommit ||
    (live.contentCommit ?? null) !== wanted.contentCommit ||
    live.siteUrl !== wanted.siteUrl
  ) {
    return false;
  }
  if (live.image !== (await buildImageId())) return false;
  const inProgress = { site: live.site.id, status: { $in: [...unfinishedStatuses] }, ticket: { $gt: 0 } };
  return (await em.count(Deployment, inProgress)) === 0;
}
