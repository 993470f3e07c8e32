/** What several capabilities ask of a site's row. */
import { LockMode } from '@mikro-orm/core';
import { Deployment } from './entities/deployment.ts';
import { Site } from './entities/site.ts';
import type { EntityManager } from './orm.ts';

/** The row of the site, locked until the transaction ends. */
export async function lockSite(tx: EntityManager, siteId: string): Promise<Site> {
  return await tx.findOneOrFail(Site, { id: siteId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
}

/** The version that visitors see; null as long as nothing was published. */
export async function liveDeploymentOf(
  em: EntityManager,
  { liveDeploymentId }: Pick<Site, 'liveDeploymentId'>,
): Promise<Deployment | null> {
  return liveDeploymentId ? await em.findOne(Deployment, { id: liveDeploymentId }) : null;
}
