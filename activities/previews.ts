/** The preview activities besides those of a publish: finish a draft, publish it, expire it. */
import { Deployment } from '#db/deployments/deployment.ts';
import { publishPreview } from '#db/previews/publishes.ts';
import { settlePreview } from '#db/previews/transitions.ts';
import { fastForwardMain } from '#git/main-branches.ts';
import { withGitOutside } from '#git/outside-transaction.ts';
import type { Repositories } from '#providers/repositories.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { nonRetryable } from './failures.ts';
import { removeSnapshots } from './publishing/snapshot.ts';

export function previewActivities(deps: Deps) {
  const { clock } = deps;

  /** Throws `draft_behind` if the site has changed since the publish was accepted. */
  async function fastForwardSite(
    repositories: Repositories,
    { site, slot, expectedHeads, sourceCommit, contentCommit }: Deployment,
  ): Promise<void> {
    if (!expectedHeads) throw new Error('a deployment without expected heads cannot be merged into main');
    const to = { source: sourceCommit ?? null, content: contentCommit ?? null };
    if (await fastForwardMain(repositories, site.id, { from: expectedHeads, to })) return;
    throw errors.draft_behind(`The site has changed since the draft in preview slot ${slot} was built.`);
  }

  return {
    /** The build has already saved the draft, or the deployment has ended otherwise. */
    async putDraft(deploymentId: string): Promise<string> {
      await removeSnapshots(deps.store, deploymentId);
      return (await deps.em().findOneOrFail(Deployment, { id: deploymentId })).status;
    },

    publishSlot: (deploymentId: string): Promise<string> =>
      nonRetryable(async () => {
        if (!deps.repositories) throw errors.no_repositories('This platform does not provide git repositories.');
        return await withGitOutside(deps.repositories, async (repositories) => {
          const fastForward = (deployment: Deployment) => fastForwardSite(repositories, deployment);
          return (await publishPreview(deps.em(), clock, deploymentId, fastForward)).status;
        });
      }),

    settlePreview: (id: string) => settlePreview(deps.em(), clock.now(), id),
  };
}
