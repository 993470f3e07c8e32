/** Open invitations to the reader's account. */
import { call } from '#rules/calls/calls.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { notDone } from './done.ts';
import { type Source, siteColumns, whoseDone } from './item.ts';

const sql = `
  select invitation.id, invitation.created_at as at, invitation.expires_at as "expiresAt", owner.name as who, owner.email, ${siteColumns}
  from account reader
  join invitation on invitation.email = reader.email and invitation.status = 'open'
  join site on site.id = invitation.site_id
  join account owner on owner.id = site.account_id
  where reader.id = ? and site.delete_at is null and site.purged_at is null and invitation.expires_at > ? and invitation.created_at > ?
    and ${notDone({ kind: 'invitation', id: 'invitation.id', at: 'invitation.created_at' })}
  order by invitation.created_at desc limit ?`;

type Row = Record<'id' | 'at' | 'expiresAt' | 'who' | 'email' | 'siteId' | 'siteName', string>;

/**
 * The title contains the site's host name and not its title, and the inviter's address, as in the e-mail: the recipient
 * may not know the inviter.
 */
export const openInvitations: Source<Row> = {
  kind: 'invitation',
  select(reader, since, context) {
    const { now, limit } = context;
    return { sql, values: [reader.accountId, now, since, whoseDone(reader, context), limit] };
  },
  item({ id, at, expiresAt, who, email, siteId, siteName }, _, { config }) {
    return {
      id,
      site: { id: siteId, name: siteName },
      who,
      at: new Date(at),
      invitation: { inviter: `${who} (${email})`, expiresAt: new Date(expiresAt) },
      title: `${who} (${email}) has invited this account to work on ${siteHostname(config, siteName)}.`,
      nextAction: `If the owner of this account agrees, accept the invitation with ${call('invitation.accept', { id })}. To decline it, call ${call('invitation.decline', { id })}.`,
    };
  },
};
