/** The queue of a site's publishes: one builds at a time, and a later one supersedes those that wait. All wait for build slots. */

import { textArray } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import { liveDeploymentOf, lockSite } from '#db/sites/transitions.ts';
import { cancelWorkflow } from '#db/workflow-messages.ts';
import { isSettled, publishKinds, unfinishedStatuses } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { mayStartBuild } from './build-slots.ts';
import { Deployment } from './deployment.ts';

/** Supersedes the deployments with a lower ticket than `winner`, and cancels their workflows. */
export async function supersede(
  tx: EntityManager,
  clock: Clock,
  winner: { id: string; site: { id: string }; ticket: number },
  which: { statuses: readonly string[]; kinds: readonly string[] },
): Promise<void> {
  const losers: { id: string }[] = await tx.execute(
    `update deployment set status = 'superseded', superseded_by_id = ?, finished_at = ?
     where site_id = ? and id <> ? and ticket < ? and status = any(?) and kind = any(?) returning id`,
    [
      winner.id,
      clock.now(),
      winner.site.id,
      winner.id,
      winner.ticket,
      textArray(which.statuses),
      textArray(which.kinds),
    ],
  );
  for (const { id } of losers) cancelWorkflow(tx, clock, 'publishSite', { deploymentId: id });
}

/** `for`: the site's earlier publish; null if it waits for a build slot. */
export type Turn = { turn: 'build' } | { turn: 'wait'; for: string | null } | { turn: 'none'; because: string };

/**
 * Claims a build slot, and for a publish the site's only build, unless an earlier publish is unfinished. Idempotent.
 */
export async function claimBuild(em: EntityManager, clock: Clock, deploymentId: string): Promise<Turn> {
  return await em.transactional(async (tx) => {
    const { site: reference } = await tx.findOneOrFail(Deployment, { id: deploymentId });
    const site = await lockSite(tx, reference.id);
    const deployment = await tx.findOneOrFail(Deployment, { id: deploymentId }, { refresh: true });
    if (isSettled(deployment.status)) return { turn: 'none', because: deployment.status };
    if (deployment.status !== 'queued') return { turn: 'build' };
    const ahead = deployment.kind === 'draft' ? null : await firstAhead(tx, deployment);
    if (ahead) return { turn: 'wait', for: ahead.id };
    if (!(await mayStartBuild(tx, clock, deployment.id))) {
      deployment.turnAt = null;
      return { turn: 'wait', for: null };
    }
    if (deployment.kind === 'posts') {
      const live = await liveDeploymentOf(tx, site);
      deployment.sourceCommit = live?.sourceCommit ?? deployment.sourceCommit;
    }
    deployment.status = 'building';
    deployment.startedAt = clock.now();
    return { turn: 'build' };
  });
}

/** The oldest unfinished publish of the site with a lower ticket. */
async function firstAhead(tx: EntityManager, { site, ticket }: Deployment): Promise<Deployment | null> {
  const kind = { $in: [...publishKinds] };
  const status = { $in: [...unfinishedStatuses] };
  return await tx.findOne(Deployment, { site, kind, status, ticket: { $lt: ticket } }, { orderBy: { ticket: 'asc' } });
}
