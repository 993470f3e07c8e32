/** Uploads of built output: accepted, completed and cancelled, each under the lock of the site's row. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import type { Clock } from '#runtime/clock.ts';
import { type AcceptanceDeps, acceptDeployment, type NewDeployment } from './acceptance.ts';
import { Deployment } from './deployment.ts';
import { requireHourlyLimits } from './hourly-limits.ts';
import { supersedeIfStale } from './transitions.ts';

/** Creates an upload. Of more than `inProgressMax` on the site, the oldest are cancelled. */
export async function acceptOutput(
  tx: EntityManager,
  deps: AcceptanceDeps,
  site: Site,
  upload: Pick<NewDeployment, 'id' | 'siteUrl' | 'createdBy' | 'uploadEndsAt'>,
  inProgressMax: number,
): Promise<Deployment> {
  await tx.execute(
    `update deployment set status = 'cancelled', finished_at = ? where id in (
       select id from deployment where site_id = ? and status = 'uploading' order by id desc offset ?)`,
    [deps.clock.now(), site.id, inProgressMax - 1],
  );
  await requireHourlyLimits(tx, deps, site.account.id, 'upload');
  return await acceptDeployment(tx, deps, site, { ...upload, kind: 'upload' });
}

/**
 * Starts the completion of an upload, whose manifest is final from then on. Idempotent. False where it is incomplete or
 * settled, also by a later ticket that went live.
 */
export async function completeOutput(em: EntityManager, clock: Clock, deploymentId: string): Promise<boolean> {
  return await em.transactional(async (tx) => {
    const { site: reference } = await tx.findOneOrFail(Deployment, { id: deploymentId });
    const site = await lockSite(tx, reference.id);
    const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
    const deployment = await tx.findOneOrFail(Deployment, { id: deploymentId }, options);
    if (deployment.status !== 'uploading') return false;
    if (await supersedeIfStale(tx, clock, site, deployment)) return false;
    const [missing] = await tx.execute<unknown[]>(
      'select 1 from upload_file where deployment_id = ? and missing limit 1',
      [deploymentId],
    );
    if (missing) return false;
    deployment.startedAt ??= clock.now();
    return true;
  });
}

/** Cancels expired uploads, and deletes the manifest rows of settled ones. Returns the number of deleted rows. */
export async function sweepOutput(em: EntityManager, now: Date): Promise<number> {
  await em.execute(
    `update deployment set status = 'cancelled', finished_at = upload_ends_at
     where status = 'uploading' and upload_ends_at <= ?`,
    [now],
  );
  const gone = await em.execute<unknown[]>(
    `delete from upload_file using deployment
     where deployment.id = deployment_id and deployment.status <> 'uploading' returning 1`,
  );
  return gone.length;
}
