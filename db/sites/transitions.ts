/** Locks, reads and blocks of a site's row, for several capabilities. */
import { LockMode } from '@mikro-orm/core';
import { expireHoldsAndPayments } from '#db/bookings/holds.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { platformFor, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Clock } from '#runtime/clock.ts';
import { errors } from '#runtime/errors.ts';
import { Site } from './site.ts';

/** The row of the site, locked until the transaction ends. */
export async function lockSite(tx: EntityManager, siteId: string): Promise<Site> {
  return await tx.findOneOrFail(Site, { id: siteId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** The site, which is neither archived nor blocked until the transaction ends. */
export async function lockSiteForShare(tx: EntityManager, id: string): Promise<Site> {
  await tx.execute('select 1 from site where id = ? for share', [id]);
  return await tx.findOneOrFail(Site, { id }, { refresh: true });
}

/**
 * The lock that PostgreSQL takes for a row that refers to the site. Call it before another lock, such as `lockAccount`, in a
 * transaction that inserts such a row later: the insert would wait for a transaction that has locked the site and waits for
 * the other lock.
 */
export async function lockSiteForKeyShare(tx: EntityManager, siteId: string): Promise<void> {
  await tx.execute('select 1 from site where id = ? for key share', [siteId]);
}

/** Whether a site counts against the limit of its account's plan, in SQL. */
export const countsSql = `purged_at is null and (status = 'active' or delete_at is not null)`;

/** The number of the account's sites that count against the limit of its plan. */
export async function countSites(em: EntityManager, accountId: string): Promise<number> {
  const [row] = await em.execute<[{ sites: number }]>(
    `select count(*)::int as sites from site where account_id = ? and ${countsSql}`,
    [accountId],
  );
  return row.sites;
}

/** Makes what earlier builds of the site left unusable, and also what builds leave that have started already. */
export async function dropBuildCaches(em: EntityManager, siteId: string): Promise<void> {
  await em.execute('update site set cache_epoch = cache_epoch + 1 where id = ?', [siteId]);
}

/** The version that visitors see; null if nothing was ever published. */
export async function liveDeploymentOf(
  em: EntityManager,
  { liveDeploymentId }: Pick<Site, 'liveDeploymentId'>,
): Promise<Deployment | null> {
  return liveDeploymentId ? await em.findOne(Deployment, { id: liveDeploymentId }) : null;
}

/**
 * Blocks the site, with a reason for its owner. Its holds and open payments expire; later charges are refunded. If the
 * site is already blocked, only the reason changes. Throws `not_found`.
 */
export async function blockSite(em: EntityManager, clock: Clock, siteId: string, reason: string): Promise<Site> {
  return await em.transactional(async (tx) => {
    const site = await lockNamed(tx, siteId);
    const isNew = !site.blockedAt;
    if (isNew) await expireHoldsAndPayments(tx, clock, { site: site.id });
    recordAct(tx, clock, platformFor(site.account.id), 'site.blocked', { site, detail: { reason } });
    return Object.assign(site, { blockedAt: site.blockedAt ?? clock.now(), blockReason: reason });
  });
}

/** Unblocks the site. Throws `not_found`. */
export async function unblockSite(em: EntityManager, clock: Clock, siteId: string): Promise<Site> {
  return await em.transactional(async (tx) => {
    const site = await lockNamed(tx, siteId);
    if (site.blockedAt) recordAct(tx, clock, platformFor(site.account.id), 'site.unblocked', { site });
    return Object.assign(site, { blockedAt: null, blockReason: null });
  });
}

async function lockNamed(tx: EntityManager, id: string): Promise<Site> {
  const site = await tx.findOne(Site, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (site) return site;
  throw errors.not_found('There is no site with this id.');
}
