/** Reading a deployment, and restoring it. */

import { type Actor, loadDeployment, requireChangeable } from '#api/access.ts';
import { versionOf } from '#api/output/rules.ts';
import { readLogTail } from '#db/deployments/build-log.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { goLive, takeTicket } from '#db/deployments/transitions.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { dropBuildCaches } from '#db/sites/transitions.ts';
import { diffManifests, type ManifestFile, parseManifest } from '#providers/manifest.ts';
import { wholeFiles } from '#providers/store/whole-files.ts';
import { call } from '#rules/calls/calls.ts';
import { isRestorable, type Repository } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { errorFirst } from './failure-log.ts';

const logTailBytes = 64 * 1024;
const changesShown = 200;
const commitsShown = 50;

/** The end of the log of a failed build, with its error first; undefined for any other deployment. */
export async function failureDetail(em: EntityManager, { id, error }: Deployment): Promise<string | undefined> {
  return error?.code === 'build_failed' || error?.code === 'build_timeout'
    ? errorFirst(await readLogTail(em, id, logTailBytes))
    : undefined;
}

/** The files of a deployment, sorted by path; none if nothing was built. */
export async function manifestOf({ store }: Deps, { manifestSha256 }: Deployment): Promise<ManifestFile[] | undefined> {
  if (!manifestSha256) return undefined;
  const manifest = await store.readAll(manifestSha256);
  if (!manifest) throw errors.storage_error('This deployment’s file list could not be read.');
  return parseManifest(manifest);
}

/** The previous version that was built. */
async function versionBefore(em: EntityManager, deployment: Deployment): Promise<Deployment | null> {
  return await em.findOne(
    Deployment,
    { site: deployment.site.id, number: { $lt: deployment.number }, status: { $in: ['live', 'retired'] } },
    { orderBy: { number: 'desc' } },
  );
}

/** Files and commits that changed since the previous version. */
export async function changesOf(em: EntityManager, deps: Deps, deployment: Deployment) {
  const before = await versionBefore(em, deployment);
  const [files, earlier] = await Promise.all([
    manifestOf(deps, deployment),
    before ? manifestOf(deps, before) : undefined,
  ]);
  const commits = (
    await Promise.all([commitsOf(deps, deployment, before, 'source'), commitsOf(deps, deployment, before, 'content')])
  ).flat();
  if (!files) return { changes: null, commits };
  const { added, modified, removed } = diffManifests(earlier ?? [], files);
  const shown = (list: ManifestFile[]) => list.slice(0, changesShown).map(({ path, bytes }) => ({ path, bytes }));
  return {
    changes: {
      against: before?.id ?? null,
      added: shown(added),
      modified: shown(modified),
      removed: shown(removed),
      counts: { added: added.length, modified: modified.length, removed: removed.length },
    },
    commits,
  };
}

async function commitsOf(
  { repositories }: Deps,
  deployment: Deployment,
  before: Deployment | null,
  repository: Repository,
) {
  const commitIn = (one: Deployment | null) =>
    (repository === 'source' ? one?.sourceCommit : one?.contentCommit) ?? null;
  const to = commitIn(deployment);
  if (!repositories || !to) return [];
  const range = { from: commitIn(before), to, limit: commitsShown };
  const commits = await repositories.commits(deployment.site.id, repository, range);
  return commits.map(({ sha, subject, author }) => ({ sha, subject, author, repository }));
}

/**
 * Serves an earlier version again by moving the pointer; nothing is built or uploaded. Restoring the live version keeps it live against
 * publishes that were accepted earlier.
 * Throws `not_restorable`, `unarchived_content` (bytes are missing), `superseded` (something newer went live meanwhile).
 */
export async function restore(em: EntityManager, deps: Deps, actor: Actor, deploymentId: string): Promise<Deployment> {
  const deployment = await loadDeployment(em, actor, deploymentId);
  requireChangeable(deployment.site);
  if (!isRestorable(deployment)) {
    throw errors.not_restorable(`Version ${deployment.number} was never live, so it cannot be restored.`, {
      nextAction: `Publish from source with ${call('site.publish', { id: deployment.site })}.`,
    });
  }
  const ticket = await takeTicket(em, deployment.site.id);
  await requireStoredFiles(deps, deployment);
  await dropBuildCaches(em, deployment.site.id);
  const restored = await goLive(em, deps.clock, deploymentId, {
    restoreTicket: ticket,
    record: (tx, site) => recordAct(tx, deps.clock, actor, 'deployment.restored', { site, ...versionOf(deployment) }),
  });
  if (restored.site.liveTicket !== ticket) {
    requireChangeable(restored.site);
    throw errors.superseded('A later publish or restore went live before this restore finished.', {
      nextAction: `Call ${call('deployment.list', { id: deployment.site })} to see which version is live now.`,
    });
  }
  return restored;
}

async function requireStoredFiles(deps: Deps, deployment: Deployment): Promise<void> {
  const files = (await manifestOf(deps, deployment)) ?? [];
  const whole = new Set(await wholeFiles(deps.store, files));
  const lost = files.filter((file) => !whole.has(file));
  if (lost.length === 0) return;
  deps.log.error(
    { deploymentId: deployment.id, lost: lost.length },
    'files of a previously live version are missing from the store',
  );
  throw errors.unarchived_content(
    `Files of version ${deployment.number} are missing from storage (${lost.length} in total), starting with ${lost[0]?.path}.`,
    {
      retryable: false,
      nextAction: `Publish from source with ${call('site.publish', { id: deployment.site })}.`,
    },
  );
}
