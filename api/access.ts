/** The one place where it is decided who may act on what. What the caller may not see is the same `not_found` as what does not exist. */
import type { Loaded } from '@mikro-orm/core';

import { Deployment } from '../db/entities/deployment.ts';
import { Site } from '../db/entities/site.ts';
import type { EntityManager } from '../db/orm.ts';
import { errors } from '../errors.ts';
import { isId } from '../ids.ts';

/** Who asks: the account behind the token. */
export type Actor = { accountId: string; tokenId: string };

/** The site, if the caller may act on it. */
export async function loadSite(em: EntityManager, actor: Actor, siteId: string): Promise<Site> {
  const site = isId('site', siteId) ? await em.findOne(Site, { id: siteId, account: actor.accountId }) : null;
  if (!site) {
    throw errors.not_found('There is no site of that id that this token may act on.', {
      nextAction: 'Read GET /v1/sites for the sites of this account.',
    });
  }
  return site;
}

/** The deployment with its site, if the caller may act on that site. */
export async function loadDeployment(
  em: EntityManager,
  actor: Actor,
  deploymentId: string,
): Promise<Loaded<Deployment, 'site'>> {
  const deployment = isId('dep', deploymentId)
    ? await em.findOne(Deployment, { id: deploymentId, site: { account: actor.accountId } }, { populate: ['site'] })
    : null;
  if (!deployment) {
    throw errors.not_found('There is no deployment of that id that this token may act on.', {
      nextAction: 'Read GET /v1/sites/{id}/deployments for the deployments of a site.',
    });
  }
  return deployment;
}

/** Stops a write to a site that is archived. */
export function requireActive(site: Site): void {
  if (site.status === 'archived') {
    throw errors.site_archived(`The site ${site.name} is archived: it can be read and takes no change.`, {
      nextAction: `Call POST /v1/sites/${site.id}/unarchive first.`,
    });
  }
}
