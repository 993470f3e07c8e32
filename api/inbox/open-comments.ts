/** Open comment threads whose last comment is not by the reader's own agent. */
import { CommentThread } from '#db/comments/comment-thread.ts';
import { type InboxItem, itemsMax, type Reader, type Source } from './item.ts';

const sql = `
  select thread.id from comment_thread thread
  join site on site.id = thread.site_id and site.status = 'active'
  join lateral (
    select account_id, author_kind, created_at from comment_message
    where thread_id = thread.id order by id desc limit 1) as last on true
  where thread.site_id = any(?) and thread.status = 'open' and thread.changed_at > ?
    and not (last.account_id = ? and last.author_kind = 'agent' and last.created_at = thread.changed_at)
  order by thread.changed_at desc limit ?`;

export const openComments: Source = async (em, { siteIds, accountId }: Reader, since) => {
  const rows: { id: string }[] = await em.execute(sql, [`{${siteIds.join(',')}}`, since, accountId, itemsMax]);
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const threads = await em.find(CommentThread, { id: { $in: ids } }, { populate: ['site', 'messages.account'] });
  return threads.map(({ id, site, page, changedAt, messages }): InboxItem => {
    const last = messages.getItems().at(-1);
    return {
      kind: 'open_comment',
      id,
      site: { id: site.id, name: site.name },
      at: changedAt,
      title: `${last?.account.name ?? 'Someone'} has commented on the page ${page} of ${site.name}.`,
      ...(last ? { message: last.body } : {}),
      nextAction: `Call GET /v1/sites/${site.id}/comments?status=open to read the thread. Reply with POST /v1/comments/${id}/reply, or resolve it with POST /v1/sites/${site.id}/comments.`,
    };
  });
};
