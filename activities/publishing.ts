/** The activities of `publishSite`. Each reads the row first, does one thing, and may be repeated at any point. */

import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { Deployment } from '#db/deployments/deployment.ts';
import { requireBuildSeconds } from '#db/deployments/hourly-limits.ts';
import { claimBuild, type Turn } from '#db/deployments/queue.ts';
import { goLive, settle } from '#db/deployments/transitions.ts';
import { call } from '#rules/calls/calls.ts';
import { type DeploymentStatus, isSettled } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, catalog, type ErrorCode, errors } from '#runtime/errors.ts';
import { nonRetryable } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';
import { buildDeployment } from './publishing/build.ts';
import type { BuilderDeps } from './publishing/deps.ts';
import { sourceDigest } from './publishing/earlier-output.ts';
import { removeSnapshots, type SnapshotCommits, snapshotName, writeSnapshot } from './publishing/snapshot.ts';

/** On the queue `platform`: rows, repositories and the live version. */
export function publishingActivities(deps: Deps) {
  const { clock } = deps;

  async function statusOf(deploymentId: string): Promise<DeploymentStatus> {
    return (await deps.em().findOneOrFail(Deployment, { id: deploymentId })).status;
  }

  /** If there are drafts, a preview is built twice: with drafts to show, and without drafts to publish later. */
  async function writeSnapshots(deployment: Deployment, commits: SnapshotCommits, signal: AbortSignal): Promise<void> {
    const { store, repositories } = deps;
    if (!repositories) throw errors.no_repositories('This platform does not provide git repositories.');
    const { id } = deployment;
    const { drafts, digest } = await writeSnapshot(
      store,
      repositories,
      snapshotName(id),
      commits,
      'without drafts',
      signal,
    );
    await deps.em().nativeUpdate(Deployment, { id }, { sourceDigest: sourceDigest(deployment.site, digest) });
    if (deployment.kind !== 'draft' || drafts === 0) return;
    await writeSnapshot(store, repositories, snapshotName(id, 'with drafts'), commits, 'with drafts', signal);
  }

  /** A build that was accepted before the seconds of the hour were used does not start either. */
  async function requireSecondsLeft(deploymentId: string): Promise<void> {
    const em = deps.em();
    const { status, site } = await em.findOneOrFail(Deployment, { id: deploymentId }, { populate: ['site'] });
    if (status !== 'queued') return;
    await requireBuildSeconds(em, deps, site.account.id, site).catch((error: unknown) => {
      throw error instanceof AppError ? ApplicationFailure.nonRetryable(error.message, error.code) : error;
    });
  }

  return {
    async claimBuild(deploymentId: string): Promise<Turn> {
      await requireSecondsLeft(deploymentId);
      return await claimBuild(deps.em(), clock, deploymentId);
    },

    async snapshotSource(deploymentId: string): Promise<void> {
      const deployment = await deps.em().findOneOrFail(Deployment, { id: deploymentId }, { populate: ['site'] });
      const { site, sourceCommit, contentCommit } = deployment;
      if (isSettled(deployment.status)) return;
      const { cancellationSignal } = Context.current();
      await withHeartbeat(async () => {
        await nonRetryable(async () => {
          if (!sourceCommit) throw errors.no_source('The site has no source to build.');
          const commits = { siteId: site.id, sourceCommit, contentCommit: contentCommit ?? null };
          await writeSnapshots(deployment, commits, cancellationSignal);
        });
        // If the deployment has been settled meanwhile, nothing else removes the snapshots.
        if (isSettled(await statusOf(deploymentId))) await removeSnapshots(deps.store, deploymentId);
      });
    },

    async putLive(deploymentId: string): Promise<string> {
      const deployment = await goLive(deps.em(), clock, deploymentId);
      await removeSnapshots(deps.store, deploymentId);
      return deployment.status;
    },

    async failPublish(deploymentId: string, code: string, message: string): Promise<string> {
      const known = code in catalog ? (code as ErrorCode) : 'internal';
      const nextAction = remedyOf(known, await deps.em().findOneOrFail(Deployment, { id: deploymentId }));
      const error = new AppError(known, message, nextAction ? { nextAction } : {});
      await settle(deps.em(), deps, deploymentId, { status: 'failed', error: error.toBody() });
      await removeSnapshots(deps.store, deploymentId);
      return await statusOf(deploymentId);
    },

    async cancelPublish(deploymentId: string): Promise<string> {
      await settle(deps.em(), deps, deploymentId, { status: 'cancelled' });
      await removeSnapshots(deps.store, deploymentId);
      return await statusOf(deploymentId);
    },
  };
}

/** On the queue `builds`: activities that need a sandbox. */
export function buildActivities(deps: BuilderDeps) {
  return {
    buildSite: (deploymentId: string): Promise<void> => buildDeployment(deps, deploymentId),

    /** Removes orphan builds from the engine of this worker. Returns how many. The name is recorded in histories. */
    sweepSandbox: (): Promise<number> =>
      deps.sandbox.removeOrphanBuilds(async (deploymentId) => {
        const deployment = await deps.em().findOne(Deployment, { id: deploymentId });
        return deployment !== null && !isSettled(deployment.status);
      }),
  };
}

/** The remedy for an error, in words that fit this kind of deployment. */
function remedyOf(code: ErrorCode, { site, slot, kind }: Deployment): string | undefined {
  const draft = { id: site, slot: slot ?? 1 };
  const again = kind === 'draft' ? `rebuild the draft with ${call('preview.build', draft)}` : 'publish again';
  const remedies: Partial<Record<ErrorCode, string>> = {
    build_failed: `Read the log in \`detail\`, fix the source, push, and ${again}.`,
    build_timeout: `Find the slow step in \`detail\`, make the build faster, push, and ${again}.`,
    rate_limited: `Make the build faster, push, and ${again} when \`limits.build_seconds_per_hour\` of ${call('account.read')} has seconds left.`,
    invalid_redirects: `Fix \`_redirects\` in the source, push, and ${again}.`,
    plan_limit: `Make the site smaller, push, and ${again}.`,
    draft_behind: `Update the draft with ${call('preview.update', draft)}, check it, and publish it again.`,
    internal: `${again[0]?.toUpperCase()}${again.slice(1)}; if it persists, send feedback with ${call('feedback.create')}.`,
  };
  return remedies[code];
}
