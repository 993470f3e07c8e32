/** The addresses for e-mails about visitors' submissions and bookings, and for visitors' replies. */
import { Account } from '#db/accounts/account.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from './site.ts';

/** The address of the collaborator; the owner's if there is none or that account is blocked. */
export async function notifyAddress(...which: Parameters<typeof notifyAccount>): Promise<string> {
  return (await notifyAccount(...which)).email;
}

/** The same, with the id of the account. */
export async function notifyAccount(
  em: EntityManager,
  site: Pick<Site, 'account'>,
  notifyCollaboratorId: string | null | undefined,
): Promise<Pick<Account, 'id' | 'email'>> {
  const meant = await em.findOneOrFail(Account, { id: notifyCollaboratorId ?? site.account.id }, { refresh: true });
  return meant.blockedAt ? await em.findOneOrFail(Account, { id: site.account.id }) : meant;
}

/** The address that visitors reply to. Null if there is none, or if it belongs to neither the owner nor a collaborator. */
export async function replyAddress(
  em: EntityManager,
  site: Pick<Site, 'id' | 'account'>,
  replyToId: string | null | undefined,
): Promise<string | null> {
  if (!replyToId) return null;
  const isMember =
    replyToId === site.account.id || (await em.count(Collaborator, { site: site.id, account: replyToId })) > 0;
  return isMember ? (await em.findOneOrFail(Account, { id: replyToId }, { refresh: true })).email : null;
}
