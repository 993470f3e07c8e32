/** Which accounts have access to a site, and as what. */
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import type { Role } from '#rules/states.ts';
import { Collaborator } from './collaborator.ts';

/**
 * Whether the account has access to the site. A collaborator whose own account is blocked has none, so links and
 * passwords that they created stop working. Only the owner reaches a site that is being deleted, and no account a purged one.
 */
export async function isMember(em: EntityManager, site: Site, accountId: string): Promise<boolean> {
  if (site.purgedAt) return false;
  if (roleOn(site, accountId) === 'owner') return true;
  if (site.deleteAt) return false;
  return (await em.count(Collaborator, { site: site.id, account: { id: accountId, blockedAt: null } })) > 0;
}

/** The role of an account that has access. */
export function roleOn(site: Site, accountId: string): Role {
  return site.account.id === accountId ? 'owner' : 'collaborator';
}
