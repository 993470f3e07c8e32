/** What an invitation gave, for the owner who was told of it by e-mail. */
import type { Actor } from '#api/access.ts';
import { wholly } from '#api/invitations/rules.ts';
import type { WholeInvitation } from '#api/invitations/schemas.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { Invitation } from '#db/collaborators/invitation.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { withdrawInvitation } from './invitations.ts';
import { removeCollaborator } from './rules.ts';

export type Invited = {
  invitation: WholeInvitation;
  /** Whether it can be accepted, or was and still gives access. */
  hasAccess: boolean;
};

/** An invitation to a site that the account owns; null if there is none. */
export async function findInvited(
  em: EntityManager,
  { accountId }: Pick<Actor, 'accountId'>,
  id: string,
): Promise<Invited | null> {
  if (!isId('inv', id)) return null;
  const invitation = await em.findOne(Invitation, { id, site: { account: accountId, purgedAt: null } }, wholly);
  if (!invitation) return null;
  const { status, site, account } = invitation;
  const isMember = account != null && (await em.count(Collaborator, { site: site.id, account: account.id })) > 0;
  return { invitation, hasAccess: status === 'accepted' ? isMember : status !== 'withdrawn' };
}

/** Withdraws the invitation, or removes the collaborator who accepted it. Idempotent. Throws `not_found`. */
export async function endInvited(em: EntityManager, deps: Deps, actor: Actor, id: string): Promise<void> {
  const found = await findInvited(em, actor, id);
  if (!found) throw errors.not_found('No invitation to your websites has this id.');
  const { invitation, hasAccess } = found;
  if (!hasAccess) return;
  const siteId = invitation.site.id;
  if (invitation.status !== 'accepted') await withdrawInvitation(em, deps, actor, siteId, id);
  else if (invitation.account) await removeCollaborator(em, deps, actor, siteId, invitation.account.id);
}
