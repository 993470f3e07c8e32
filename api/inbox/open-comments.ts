/** Open comment threads whose last comment is not by the reader's own agent. */
import { call } from '#rules/calls/calls.ts';
import { pageInText } from '#web/page-names.js';
import { notDone } from './done.ts';
import { type Source, siteColumns, siteIdsIn } from './item.ts';

// Only the last message of each thread is read.
const sql = `
  select thread.id, thread.page, thread.changed_at as "changedAt", ${siteColumns},
    case when last.author_kind = 'agent' and last.account_id <> ? then account.name
      else coalesce(last.author_name, account.name) end as author,
    last.body, draft.slot, last.account_id = ? and last.signed_in as "isAnswered"
  from comment_thread thread
  join site on site.id = thread.site_id and site.status = 'active'
  join lateral (
    select account_id, author_kind, author_name, signed_in, created_at, body from comment_message
    where thread_id = thread.id order by id desc limit 1) as last on true
  join account on account.id = last.account_id
  left join deployment draft on draft.id = thread.deployment_id and draft.kind = 'draft'
  where thread.site_id = any(?) and thread.status = 'open' and thread.changed_at > ?
    and not (last.account_id = ? and last.author_kind = 'agent' and last.created_at = thread.changed_at)
    and ${notDone({ kind: 'open_comment', id: 'thread.id', at: 'thread.changed_at' })}
  order by thread.changed_at desc limit ?`;

type Row = Record<'id' | 'page' | 'siteId' | 'siteName' | 'siteTitle' | 'author' | 'body', string> & {
  changedAt: string | Date;
  slot: number | null;
  isAnswered: boolean;
};

export const openComments: Source<Row> = {
  kind: 'open_comment',
  select(reader, since, { limit }) {
    const { accountId } = reader;
    return { sql, values: [accountId, accountId, siteIdsIn(reader), since, accountId, accountId, limit] };
  },
  item({ id, page, changedAt, siteId, siteName, siteTitle, author, body, slot, isAnswered }) {
    return {
      id,
      site: { id: siteId, name: siteName },
      slot,
      who: author,
      at: new Date(changedAt),
      title: `${author} has commented on ${pageInText(page)} of ${siteTitle}.`,
      message: body,
      isAnswered,
      nextAction: `Call ${call('comment.list', { id: siteId, status: 'open' })} to read the thread. Reply with ${call('comment.reply', { id })}, or resolve it with ${call('comment.write', { id: siteId, thread_id: id, action: 'resolve' })}.`,
    };
  },
};
