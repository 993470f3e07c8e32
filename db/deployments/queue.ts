/** The queue of a site's publishes: one builds at a time, and a later one supersedes those that wait. */

import { textArray } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import { liveDeploymentOf, lockSite } from '#db/sites/transitions.ts';
import { cancelWorkflow, signalWorkflow } from '#db/workflow-messages.ts';
import { isSettled, publishKinds, unfinishedStatuses } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
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

/** Signals the oldest queued publish of the site, which then tries to claim the build. */
export async function signalNextInQueue(tx: EntityManager, clock: Clock, siteId: string): Promise<void> {
  const [next]: { id: string }[] = await tx.execute(
    `select id from deployment where site_id = ? and status = 'queued' and kind = any(?) order by ticket limit 1`,
    [siteId, textArray(publishKinds)],
  );
  if (next) signalWorkflow(tx, clock, 'publishSite', { deploymentId: next.id }, 'turn');
}

export type Turn = { turn: 'build' } | { turn: 'wait'; for: string } | { turn: 'none'; because: string };

/** Claims the site's only build, unless an earlier publish is unfinished; drafts do not need it. Idempotent. */
export async function claimBuild(em: EntityManager, clock: Clock, deploymentId: string): Promise<Turn> {
  return await em.transactional(async (tx) => {
    const { site: reference } = await tx.findOneOrFail(Deployment, { id: deploymentId });
    const site = await lockSite(tx, reference.id);
    const deployment = await tx.findOneOrFail(Deployment, { id: deploymentId }, { refresh: true });
    if (isSettled(deployment.status)) return { turn: 'none', because: deployment.status };
    if (deployment.status !== 'queued') return { turn: 'build' };
    const ahead = deployment.kind === 'draft' ? null : await firstAhead(tx, deployment);
    if (ahead) return { turn: 'wait', for: ahead.id };
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
