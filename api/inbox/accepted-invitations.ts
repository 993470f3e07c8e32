/** Accepted invitations to the reader's own sites, while they give access. */
import { call } from '#rules/calls/calls.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { notDone } from './done.ts';
import { newsSince, type Source, siteIdsIn } from './item.ts';

const sql = `
  select invitation.id, invitation.email, invitation.answered_at as at, account.id as "memberId", account.name as who,
    site.id as "siteId", site.name as "siteName"
  from invitation
  join site on site.id = invitation.site_id and site.status = 'active' and site.account_id = ?
  join collaborator member on member.site_id = invitation.site_id and member.account_id = invitation.account_id
  join account on account.id = invitation.account_id
  where invitation.site_id = any(?) and invitation.status = 'accepted' and invitation.answered_at > ?
    and ${notDone({ kind: 'invitation_accepted', id: 'invitation.id', at: 'invitation.answered_at' })}
  order by invitation.answered_at desc limit ?`;

type Row = Record<'id' | 'email' | 'memberId' | 'who' | 'siteId' | 'siteName', string> & { at: string | Date };

export const acceptedInvitations: Source<Row> = {
  kind: 'invitation_accepted',
  select(reader, since, { now, limit }) {
    const { accountId } = reader;
    return { sql, values: [accountId, siteIdsIn(reader), newsSince(since, now), accountId, limit] };
  },
  item({ id, email, at, memberId, who, siteId, siteName }, _, { config }) {
    return {
      id,
      site: { id: siteId, name: siteName },
      who,
      at: new Date(at),
      title: `${who} (${email}) has accepted the invitation to work on ${siteHostname(config, siteName)}.`,
      nextAction: `Tell the owner. ${call('collaborator.remove', { id: siteId, account_id: memberId })} ends the access.`,
    };
  },
};
