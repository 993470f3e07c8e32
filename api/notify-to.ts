/**
 * `notify_to`: the owner or collaborator who is notified of visitors' actions. Rows store the collaborator (null: the
 * owner) and no address, so a changed address applies at once. When a collaborator is removed, the database reassigns
 * their rows to the owner.
 */

import { Account } from '#db/accounts/account.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import { AppError, errors } from '#runtime/errors.ts';
import { readEmail } from './email-addresses.ts';

/**
 * Tables with a `site_id` and a `notify_collaborator_id`, by their names in responses. Each has this constraint:
 * `foreign key (site_id, notify_collaborator_id) references collaborator (site_id, account_id) on delete set null
 * (notify_collaborator_id)`.
 */
const places: Readonly<Record<string, { table: string; id: string }>> = {
  forms: { table: 'form', id: 'id' },
  bookable: { table: 'bookable', id: 'site_id' },
};

/** The valid values: the owner's address first, then the collaborators'. */
export async function notifyOptions(em: EntityManager, site: Pick<Site, 'id' | 'account'>): Promise<string[]> {
  const owner = await em.findOneOrFail(Account, site.account.id);
  const others = await em.find(Collaborator, { site: site.id }, { populate: ['account'], orderBy: { since: 'asc' } });
  return [owner.email, ...others.map(({ account }) => account.email)];
}

/** The address for a row's `notifyCollaboratorId`. */
export async function notifyAddress(
  em: EntityManager,
  site: Pick<Site, 'account'>,
  notifyCollaboratorId: string | null | undefined,
): Promise<string> {
  const { email } = await em.findOneOrFail(Account, notifyCollaboratorId ?? site.account.id);
  return email;
}

/**
 * The value to store for this address: the collaborator's account, or null for the owner. Call it in the transaction
 * that writes the row: it locks the collaborator until the commit. Throws `invalid_notify_to`, `notify_to_not_on_site`.
 */
export async function readNotifyTo(
  tx: EntityManager,
  site: Pick<Site, 'id' | 'account'>,
  notifyTo: string,
  property = 'notify_to',
): Promise<string | null> {
  const email = plainAddress(notifyTo, property);
  const account = await tx.findOne(Account, { email });
  if (account?.id === site.account.id) return null;
  const [row] = await tx.execute<unknown[]>(
    'select 1 from collaborator where site_id = ? and account_id = ? for key share',
    [site.id, account?.id ?? ''],
  );
  if (account && row) return account.id;
  const options = await notifyOptions(tx, site);
  throw errors.notify_to_not_on_site('This address does not belong to the owner or a collaborator of this site.', {
    nextAction: `Send one of: ${options.join(', ')}. For another mailbox, the owner forwards the e-mails. A person invited with ${call('collaborator.invite', { id: site })} could also change and publish the site.`,
  });
}

/** The account to store for this `reply_to`. Throws as `readNotifyTo` does. */
export async function readReplyTo(
  tx: EntityManager,
  site: Pick<Site, 'id' | 'account'>,
  replyTo: string,
): Promise<string> {
  return (await readNotifyTo(tx, site, replyTo, 'reply_to')) ?? site.account.id;
}

/**
 * Ids of the rows that notify the collaborator, by kind. They are reassigned to the owner when the collaborator is
 * removed.
 */
export async function notifiedOf(
  tx: EntityManager,
  siteId: string,
  accountId: string,
): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [name, { table, id }] of Object.entries(places)) {
    const rows = await tx.execute<{ id: string }[]>(
      `select ${id} as id from ${table} where site_id = ? and notify_collaborator_id = ? order by 1`,
      [siteId, accountId],
    );
    found[name] = rows.map((row) => row.id);
  }
  return found;
}

function plainAddress(text: string, property: string): string {
  try {
    return readEmail(text);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw errors.invalid_notify_to(`${property} is not a valid e-mail address.`, {
      nextAction: 'Send one of the addresses listed in notify_options.',
    });
  }
}
