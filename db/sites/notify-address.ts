/** The address for e-mails about visitors' submissions and bookings. */
import { Account } from '#db/accounts/account.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from './site.ts';

/** The address of the collaborator; the owner's if there is none or that account is blocked. */
export async function notifyAddress(
  em: EntityManager,
  site: Pick<Site, 'account'>,
  notifyCollaboratorId: string | null | undefined,
): Promise<string> {
  const meant = await em.findOneOrFail(Account, { id: notifyCollaboratorId ?? site.account.id }, { refresh: true });
  return meant.blockedAt ? (await em.findOneOrFail(Account, { id: site.account.id })).email : meant.email;
}
