/** Collaborators of a site: listing them, removal by the owner, and leaving. */

import { LockMode } from '@mikro-orm/core';
import { type Actor, loadSite, type Person, requireOwner } from '#api/access.ts';
import { notifiedOf } from '#api/notify-to.ts';
import { Account } from '#db/accounts/account.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { dropBuildCaches } from '#db/sites/transitions.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { revokeAll } from './revocations.ts';
import type { Member, RemovedMember } from './schemas.ts';

/** Everyone with access to the site: the owner first, then the collaborators, the latest first. */
export async function membersOf(em: EntityManager, site: Site): Promise<Member[]> {
  const owner = await em.findOneOrFail(Account, site.account.id);
  const others = await em.find(Collaborator, { site: site.id }, { populate: ['account'] });
  const members: Member[] = others.map(({ account, since }) => ({ account, role: 'collaborator', since }));
  members.sort((one, other) => (placeOf(one) < placeOf(other) ? 1 : -1));
  return [{ account: owner, role: 'owner', since: site.createdAt }, ...members];
}

/** The sort key of the list, which is descending. */
export function placeOf({ account, role, since }: Member): string {
  return `${role === 'owner' ? 1 : 0} ${since.toISOString()} ${account.id}`;
}

/**
 * Ends the account's access to the site at once, with all of its tokens and everything it created there that gives
 * access. Its past work stays, under its name; its notifications go to the owner. Throws `owner_only`, `not_found`,
 * `owner_cannot_leave`.
 */
export async function removeCollaborator(
  em: EntityManager,
  { clock }: Deps,
  actor: Actor,
  siteId: string,
  accountId: string,
): Promise<RemovedMember> {
  const site = await loadSite(em, actor, siteId);
  requireOwner(site, actor, 'remove a collaborator');
  return await endMembership(em, clock, { site, accountId, by: actor, action: 'collaborator.removed' });
}

/** Ends the caller's own access to the site, as its removal would. Throws `not_found`, `owner_cannot_leave`. */
export async function leaveSite(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  person: Person,
  siteId: string,
): Promise<RemovedMember> {
  const site = await loadSite(em, person, siteId);
  const { accountId } = person;
  return await endMembership(em, clock, { site, accountId, by: person, action: 'collaborator.left' });
}

/** Ends the access of an account that is being deleted to every site of others. */
export async function leaveAllSites(tx: EntityManager, { clock }: Pick<Deps, 'clock'>, person: Person): Promise<void> {
  const { accountId } = person;
  // Also to those under deletion, which only their owner sees.
  for (const { site } of await tx.find(Collaborator, { account: accountId }, { populate: ['site'] }))
    await endMembership(tx, clock, { site, accountId, by: person, action: 'collaborator.left' });
}

type Ending = {
  site: Site;
  /** Whose access ends. */
  accountId: string;
  by: Person;
  action: 'collaborator.removed' | 'collaborator.left';
};

async function endMembership(
  em: EntityManager,
  clock: Deps['clock'],
  { site, accountId, by, action }: Ending,
): Promise<RemovedMember> {
  return await em.transactional(async (tx) => {
    // First, since it locks the site: other calls lock the site before the collaborator.
    await dropBuildCaches(tx, site.id);
    const found = isId('acct', accountId)
      ? await tx.findOne(Collaborator, { site: site.id, account: accountId }, { lockMode: LockMode.PESSIMISTIC_WRITE })
      : null;
    if (!found) throw noSuchCollaborator(site, accountId);
    const account = await tx.findOneOrFail(Account, accountId);
    // The collaborator's row is locked, so no notification can be added. The database reassigns them when the row is
    // deleted.
    const moved = await notifiedOf(tx, site.id, accountId);
    await tx.nativeDelete(Collaborator, { site: site.id, account: accountId });
    const ended = await revokeAll(tx, { siteId: site.id, accountId, now: clock.now() });
    recordAct(tx, clock, by, action, { site, subject: { id: account.id, name: account.name }, detail: { ended } });
    return { account, role: 'collaborator', since: found.since, ended, moved };
  });
}

function noSuchCollaborator(site: Site, accountId: string) {
  if (accountId === site.account.id) {
    return errors.owner_cannot_leave('This account owns the site, so it cannot be removed as a collaborator.', {
      nextAction: `If the owner no longer wants the site, call ${call('site.archive', { id: site })} to take it offline. To delete it as well, then call ${call('site.delete', { id: site, confirm: true })}.`,
    });
  }
  return errors.not_found('This site has no collaborator with this account id.', {
    nextAction: `Call ${call('collaborator.list', { id: site })} to list the collaborators.`,
  });
}
