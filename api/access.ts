/**
 * All authorization for sites: by the owner and by collaborators, within the scope of the token. Sites that the account
 * cannot see return the same `not_found` as missing ones; sites outside the token's scope return `out_of_scope`. Limits
 * are those of the owner's plan, even where a collaborator acts.
 */

import type { Loaded } from '@mikro-orm/core';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { isMember, roleOn } from '#db/collaborators/membership.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import type { EntityManager } from '#db/orm.ts';
import { blockOf, isChangeable } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { call } from '#rules/calls/calls.ts';
import type { OperationName } from '#rules/calls/operations.ts';
import type { Via } from '#rules/history.ts';
import { everything, includesSite, lackingIn, type PartOfScope, type Scope } from '#rules/scopes.ts';
import type { Role } from '#rules/states.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';

/** The authenticated caller: by token, or in a signed-in browser. */
export type Person = {
  accountId: string;
  /** How the account acts, for its history; absent for a person in a browser. */
  via?: Via | undefined;
  /** The history entry of a call that records one act, by which its repetition finds that it was made. */
  entryId?: string;
  /** What the caller may do with the account. */
  scope: Scope;
  /** The link on which the owner can widen the scope for this call; undefined where owners cannot sign in. */
  wideningLink?: (missing: PartOfScope, options?: { handsOn?: boolean }) => string | undefined;
};
/** The authenticated caller: the account behind a bearer token, or behind a browser's session. */
export type Actor = Person & {
  tokenId: string;
  /** A person in a signed-in browser: `tokenId` is the id of the session. */
  isSession?: true;
  /** How often the token had been rotated when the caller sent its secret. Absent for sessions and links. */
  rotations?: number;
  /** At most this may a token do that the caller makes. */
  handsOn: Scope;
};

/** A caller who may do everything that the account may. */
export const personOf = (accountId: string): Person => ({ accountId, scope: everything });
/** The same, identified by a link. */
export const actorOf = (accountId: string, tokenId: string): Actor => ({
  ...personOf(accountId),
  tokenId,
  handsOn: everything,
});
/** The same, identified by the session of their browser. */
export const sessionActorOf = (accountId: string, sessionId: string): Actor => ({
  ...actorOf(accountId, sessionId),
  isSession: true,
});

/** The token with which things end that the caller makes; null where a person makes them in a browser. */
export const makerOf = ({ tokenId, isSession }: Actor): string | null => (isSession ? null : tokenId);

/** Throws `out_of_scope` if the caller's token may not do this. */
export function requireScope(person: Person, wanted: PartOfScope): void {
  const missing = lackingIn(person.scope, wanted);
  if (missing) throw outOfScope(person, missing);
}

/** `handsOn`: the token may do this, but may not give it to another one. */
export function outOfScope(person: Person, missing: PartOfScope, options?: { handsOn?: boolean }): AppError {
  const link = person.wideningLink?.(missing, options);
  return errors.out_of_scope(`This token does not have what the call needs: ${wordsFor(missing).join(', ')}.`, {
    nextAction: link
      ? `Ask the account’s owner to sign in and allow it once or always. Then send the same request again. Link for the owner: ${link}`
      : `Use a token of the account that has it. ${call('token.list')} lists the tokens with their scopes.`,
  });
}

/** A part of a scope in the words of the calls. */
export function wordsFor({ sites, access, payouts, account }: PartOfScope): string[] {
  return [
    ...(access ? ['`sites:write`'] : []),
    ...(sites === 'all' ? ['access to all sites of the account'] : (sites ?? []).map((id) => `access to ${id}`)),
    ...(payouts ? ['`payouts`'] : []),
    ...(account ? ['`account`'] : []),
  ];
}

/** The caller's role on a site that they have access to. */
export function roleOf(site: Site, { accountId }: Pick<Person, 'accountId'>): Role {
  return roleOn(site, accountId);
}

/** Whether the caller has access to the site. Throws `out_of_scope` if the account has it, but not the token. */
async function mayAct(em: EntityManager, person: Person, site: Site, also: PartOfScope = {}): Promise<boolean> {
  if (!(await isMember(em, site, person.accountId))) return false;
  requireScope(person, { ...also, sites: [site.id] });
  return true;
}

/** The site, if the caller has access to it. `also` is what the call needs besides. Throws `not_found`, `out_of_scope`. */
export async function loadSite(em: EntityManager, actor: Person, siteId: string, also?: PartOfScope): Promise<Site> {
  const site = await findSite(em, actor, siteId, also);
  if (site) return site;
  throw noSuchSite();
}

/** Like `loadSite`, but returns null, for callers with their own error message. */
export async function findSite(
  em: EntityManager,
  actor: Person,
  siteId: string,
  also?: PartOfScope,
): Promise<Site | null> {
  const site = isId('site', siteId) ? await em.findOne(Site, { id: siteId }) : null;
  return site && (await mayAct(em, actor, site, also)) ? site : null;
}

/** The row, if it exists and the caller has access to its site. Throws `not_found`. `list` is the operation that lists those of a site. */
export async function requireAccessible<Row extends { site?: { id: string } | null | undefined }>(
  em: EntityManager,
  person: Person,
  row: Row | null,
  { what, list }: { what: string; list: OperationName },
): Promise<Row> {
  if (row?.site && (await findSite(em, person, row.site.id))) return row;
  throw errors.not_found(`No ${what} with this id is accessible with this token.`, {
    nextAction: `Call ${call(list)} to list a site’s ${what}s.`,
  });
}

export function noSuchSite(): AppError {
  return errors.not_found('No site with this id is accessible with this token.', {
    nextAction: `Call ${call('site.list')} to list the accessible sites.`,
  });
}

/** The condition of a query for sites that the caller owns or collaborates on, without those under deletion. */
export async function sitesOf(em: EntityManager, { accountId, scope: { sites } }: Person) {
  const joined = await em.find(Collaborator, { account: accountId }, { fields: ['site'] });
  return {
    $or: [{ account: accountId }, { id: { $in: joined.map(({ site }) => site.id) } }],
    ...(sites === 'all' ? {} : { id: { $in: sites } }),
    deleteAt: null,
    purgedAt: null,
  };
}

/** The condition of a query for the caller's own sites under deletion. */
export function deletingSitesOf({ accountId, scope: { sites } }: Person) {
  const within = sites === 'all' ? {} : { id: { $in: sites } };
  return { account: accountId, ...within, deleteAt: { $ne: null }, purgedAt: null };
}

/** The names of the caller's sites, by id, without those under deletion. */
export async function siteNamesOf(em: EntityManager, { accountId, scope }: Person): Promise<Map<string, string>> {
  const rows: { id: string; name: string }[] = await em.execute(
    `select id, name from site where (account_id = ? or id in (select site_id from collaborator where account_id = ?))
       and delete_at is null and purged_at is null`,
    [accountId, accountId],
  );
  return new Map(rows.filter(({ id }) => includesSite(scope, id)).map(({ id, name }) => [id, name]));
}

/** The deployment with its site, if the caller has access to that site. Throws `not_found`. */
export async function loadDeployment(
  em: EntityManager,
  actor: Person,
  deploymentId: string,
): Promise<Loaded<Deployment, 'site'>> {
  const deployment = await findDeployment(em, actor, deploymentId);
  if (deployment) return deployment;
  throw errors.not_found('No deployment with this id is accessible with this token.', {
    nextAction: `Call ${call('deployment.list')} to list a site’s deployments.`,
  });
}

/** Like `loadDeployment`, but returns null, for callers that poll. */
export async function findDeployment(
  em: EntityManager,
  actor: Person,
  deploymentId: string,
): Promise<Loaded<Deployment, 'site'> | null> {
  if (!isId('dep', deploymentId)) return null;
  const deployment = await em.findOne(Deployment, { id: deploymentId }, { populate: ['site'] });
  return deployment && (await mayAct(em, actor, deployment.site)) ? deployment : null;
}

/** `what` completes the message, as in "archive it". Throws `owner_only`. */
export function requireOwner(site: Site, actor: Person, what: string): void {
  if (roleOf(site, actor) === 'owner') return;
  throw errors.owner_only(`Only the owner of ${site.name} can ${what}.`, {
    nextAction: `Ask the owner to do this. The owner is the first item in ${call('collaborator.list')}.`,
  });
}

/**
 * Guards changes that visitors would see. Throws `site_archived` where the site is archived or its owner's account is
 * blocked (`isChangeable`). Source changes and comment threads need only `requireActive`.
 */
export function requireChangeable(site: Site): void {
  requireActive(site);
  if (!isChangeable(site)) throw takenOff(site, 'its public content cannot be changed');
}

/** Locks the site until the transaction ends, for a change that visitors would see. Throws as `requireChangeable` does. */
export async function lockChangeable(tx: EntityManager, siteId: string): Promise<Site> {
  const site = await lockSite(tx, siteId);
  requireChangeable(site);
  return site;
}

/** Guards other changes to a site. Throws `site_archived`. */
export function requireActive(site: Site): void {
  if (site.deleteAt) {
    throw errors.site_archived(`The site ${site.name} is being deleted and cannot be changed.`, {
      nextAction: `Call ${call('site.restore', { id: site })} first.`,
    });
  }
  if (site.status === 'archived') {
    throw errors.site_archived(`The site ${site.name} is archived and cannot be changed.`, {
      nextAction: `Call ${call('site.unarchive', { id: site })} first.`,
    });
  }
}

/** Throws `site_archived` where the operator has blocked the site. `what` completes the message, as in "be renamed". */
export function requireSiteNotBlocked(site: Site, what: string): void {
  if (blockOf(site)) throw takenOff(site, `it cannot ${what}`);
}

function takenOff(site: Site, consequence: string): AppError {
  return errors.site_archived(`The site ${site.name} has been blocked by the operator, so ${consequence}.`, {
    nextAction: `Call ${call('site.read', { id: site })} and read the reason in \`blocked\`. Fix the problem, then contact the operator.`,
  });
}
