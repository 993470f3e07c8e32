/** The steps of `publishSite`. Each reads the row first, does one thing, and may be repeated at any point. */
import { Context } from '@temporalio/activity';
import { claimBuild, goLive, settle, type Turn } from '../db/deployments.ts';
import { Deployment } from '../db/entities/deployment.ts';
import { type DeploymentStatus, isSettled } from '../db/states.ts';
import { AppError, catalog, type ErrorCode, errors } from '../errors.ts';
import { asFailure } from './failures.ts';
import type { BuilderDeps, PlatformDeps } from './index.ts';
import { buildDeployment } from './publishing/build.ts';
import { snapshotName, writeSnapshot } from './publishing/snapshot.ts';

/** On the queue `platform`: rows, repositories and the pointer. */
export function publishingActivities(deps: PlatformDeps) {
  const { clock } = deps;

  async function statusOf(deploymentId: string): Promise<DeploymentStatus> {
    return (await deps.em().findOneOrFail(Deployment, { id: deploymentId })).status;
  }

  return {
    claimBuild: (deploymentId: string): Promise<Turn> => claimBuild(deps.em(), clock, deploymentId),

    async snapshotSource(deploymentId: string): Promise<void> {
      const { status, site, sourceCommit, contentCommit } = await deps
        .em()
        .findOneOrFail(Deployment, { id: deploymentId });
      if (isSettled(status)) return;
      const context = Context.current();
      const beat = setInterval(() => context.heartbeat(), 1000);
      try {
        await asFailure(async () => {
          if (!deps.repositories)
            throw errors.no_repositories('This deployment of the platform holds no repositories.');
          if (!sourceCommit) throw errors.no_source('The site has no source to build.');
          const commits = { siteId: site.id, sourceCommit, contentCommit: contentCommit ?? null };
          await writeSnapshot(
            deps.store,
            deps.repositories,
            snapshotName(deploymentId),
            commits,
            context.cancellationSignal,
          );
        });
        // Its publish may have ended meanwhile, and with it what would remove this.
        if (isSettled(await statusOf(deploymentId))) await deps.store.scratch.remove(snapshotName(deploymentId));
      } finally {
        clearInterval(beat);
      }
    },

    async putLive(deploymentId: string): Promise<string> {
      const deployment = await goLive(deps.em(), clock, deploymentId);
      await deps.store.scratch.remove(snapshotName(deploymentId));
      return deployment.status;
    },

    async failPublish(deploymentId: string, code: string, message: string): Promise<string> {
      const known = code in catalog ? (code as ErrorCode) : 'internal';
      await settle(deps.em(), clock, deploymentId, { status: 'failed', error: publishError(known, message).toBody() });
      await deps.store.scratch.remove(snapshotName(deploymentId));
      return await statusOf(deploymentId);
    },

    async cancelPublish(deploymentId: string): Promise<string> {
      await settle(deps.em(), clock, deploymentId, { status: 'cancelled' });
      await deps.store.scratch.remove(snapshotName(deploymentId));
      return await statusOf(deploymentId);
    },
  };
}

/** On the queue `builds`: what needs a sandbox. */
export function buildActivities(deps: BuilderDeps) {
  return {
    buildSite: (deploymentId: string): Promise<void> => buildDeployment(deps, deploymentId),

    /** Removes the builds of killed workers from the engine. Answers how many. */
    sweepSandbox: (): Promise<number> =>
      deps.sandbox.sweep(async (deploymentId) => {
        const deployment = await deps.em().findOne(Deployment, { id: deploymentId });
        return deployment !== null && !isSettled(deployment.status);
      }),
  };
}

const remedies: Partial<Record<ErrorCode, string>> = {
  build_failed: 'Read `detail` for the log, mend the source, push, and publish again.',
  build_timeout: 'Read `detail` for where the time went, make the build lighter, push, and publish again.',
  invalid_redirects: 'Mend `_redirects` in the source, push, and publish again.',
  plan_limit: 'Make the site smaller, push, and publish again; GET /v1/account lists the limits.',
  internal: 'Publish again; if it persists, send feedback with POST /v1/feedback.',
};

function publishError(code: ErrorCode, message: string): AppError {
  const nextAction = remedies[code];
  return new AppError(code, message, nextAction ? { nextAction } : {});
}
