/**
 * The one place where it is decided who may act on what: the owner of a site, and its collaborators. What the caller may not see is the
 * same `not_found` as what does not exist. Caps are the owner's, whoever acts.
 */
import type { Loaded } from '@mikro-orm/core';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import type { EntityManager } from '#db/orm.ts';
import { blockOf, isChangeable } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import type { Role } from '#rules/states.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';

/** Who asks: the account behind the token. */
export type Actor = { accountId: string; tokenId: string };
/** Who asks, by token or in a signed-in browser. */
export type Person = Pick<Actor, 'accountId'>;

/** What the caller is to a site that he may act on. */
export function roleOf(site: Site, { accountId }: Person): Role {
  return site.account.id === accountId ? 'owner' : 'collaborator';
}

/** Whether the caller may act on the site at all. Who made a link counts here too: it is good for nothing while that account is blocked. */
async function mayAct(em: EntityManager, { accountId }: Person, site: Site): Promise<boolean> {
  if (site.account.id === accountId) return true;
  return (await em.count(Collaborator, { site: site.id, account: { id: accountId, blockedAt: null } })) > 0;
}

/** The site, if the caller may act on it. */
export async function loadSite(em: EntityManager, actor: Person, siteId: string): Promise<Site> {
  const site = await findSite(em, actor, siteId);
  if (site) return site;
  throw noSuchSite();
}

/** Like `loadSite`, for what belongs to a site and has words of its own for what may not be seen. */
export async function findSite(em: EntityManager, actor: Person, siteId: string): Promise<Site | null> {
  const site = isId('site', siteId) ? await em.findOne(Site, { id: siteId }) : null;
  return site && (await mayAct(em, actor, site)) ? site : null;
}

function noSuchSite(): AppError {
  return errors.not_found('No site with this id is accessible with this token.', {
    nextAction: 'Read GET /v1/sites for the accessible sites.',
  });
}

/** Sites that the caller may act on, as a condition of a query: his own and those he collaborates on. */
export async function sitesOf(em: EntityManager, { accountId }: Person) {
  const joined = await em.find(Collaborator, { account: accountId }, { fields: ['site'] });
  return { $or: [{ account: accountId }, { id: { $in: joined.map(({ site }) => site.id) } }] };
}

/** Ids of the sites that the caller may act on. */
export async function siteIdsOf(em: EntityManager, { accountId }: Person): Promise<string[]> {
  const rows: { id: string }[] = await em.execute(
    'select id from site where account_id = ? union all select site_id from collaborator where account_id = ?',
    [accountId, accountId],
  );
  return rows.map(({ id }) => id);
}

/** The deployment with its site, if the caller may act on that site. */
export async function loadDeployment(
  em: EntityManager,
  actor: Person,
  deploymentId: string,
): Promise<Loaded<Deployment, 'site'>> {
  const deployment = await findDeployment(em, actor, deploymentId);
  if (deployment) return deployment;
  throw errors.not_found('No deployment with this id is accessible with this token.', {
    nextAction: 'Read GET /v1/sites/{id}/deployments for the deployments of a site.',
  });
}

/** Like `loadDeployment`, for who asks again and again. */
export async function findDeployment(
  em: EntityManager,
  actor: Person,
  deploymentId: string,
): Promise<Loaded<Deployment, 'site'> | null> {
  if (!isId('dep', deploymentId)) return null;
  const deployment = await em.findOne(Deployment, { id: deploymentId }, { populate: ['site'] });
  return deployment && (await mayAct(em, actor, deployment.site)) ? deployment : null;
}

/** Stops a collaborator. `what` is the act, as in "archive it". Throws `owner_only`. */
export function requireOwner(site: Site, actor: Person, what: string): void {
  if (roleOf(site, actor) === 'owner') return;
  throw errors.owner_only(`Only the owner of ${site.name} may ${what}.`, {
    nextAction: 'Ask the owner: GET /v1/sites/{id}/collaborators lists them first.',
  });
}

/**
 * Stops a change of what the site's visitors see, or would see: of a site that is archived, or whose owner's account is blocked
 * (`isChangeable`). What such a site may still do is what asks `requireActive`: work on its source and talk about it.
 */
export function requireChangeable(site: Site): void {
  requireActive(site);
  if (!isChangeable(site)) throw takenOff(site, 'change what its visitors see');
}

/** Stops a write to a site that is archived. */
export function requireActive(site: Site): void {
  if (site.status === 'archived') {
    throw errors.site_archived(`The site ${site.name} is archived and cannot be changed.`, {
      nextAction: `Call POST /v1/sites/${site.id}/unarchive first.`,
    });
  }
}

/** Stops what a site may not do while a person of the platform has it off the web. `what` is the act, as in "be renamed". */
export function requireNotBlocked(site: Site, what: string): void {
  if (blockOf(site)) throw takenOff(site, what);
}

function takenOff(site: Site, what: string): AppError {
  return errors.site_archived(`The site ${site.name} has been blocked by the operator, so it cannot ${what}.`, {
    nextAction: `Read the reason in \`blocked\` of GET /v1/sites/${site.id}, fix it, and contact the operator.`,
  });
}
