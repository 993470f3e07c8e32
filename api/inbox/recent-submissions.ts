/** New submissions of forms, also of archived sites. */
import { call } from '#rules/calls/calls.ts';
import { notDone } from './done.ts';
import { archivedNote, isArchived, type Source, siteColumns, siteIdsIn } from './item.ts';

// Without the values, which may have a megabyte each.
const sql = `
  select submission.id, submission.created_at as at, submission.sender, submission.opening, form.name as form,
    ${siteColumns}, ${isArchived}
  from submission
  join form on form.id = submission.form_id
  join site on site.id = form.site_id
  where form.site_id = any(?) and submission.created_at > ? and submission.expires_at > ? and not submission.spam
    and ${notDone({ kind: 'new_submission', id: 'submission.id', at: 'submission.created_at' })}
  order by submission.id desc limit ?`;

type Row = Record<'id' | 'at' | 'form' | 'siteId' | 'siteName' | 'siteTitle', string> &
  Record<'sender' | 'opening', string | null> & { isArchived: boolean };

export const recentSubmissions: Source<Row> = {
  kind: 'new_submission',
  select(reader, since, { now, limit }) {
    return { sql, values: [siteIdsIn(reader), since, now, reader.accountId, limit] };
  },
  item({ id, at, sender, opening, form, siteId, siteName, siteTitle, ...site }) {
    return {
      id,
      site: { id: siteId, name: siteName },
      who: sender,
      at: new Date(at),
      title: `${sender ?? 'A visitor'} wrote with the form “${form}” of ${siteTitle}.${archivedNote(site)}`,
      ...(opening ? { message: opening } : {}),
      nextAction: `Tell the owner: they reply by e-mail, to the address in the enquiry if there is one. No call answers it. ${call('submission.read', { id })} returns all of it.`,
    };
  },
};
