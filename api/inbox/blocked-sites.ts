/** The reader's own sites that the operator has blocked; collaborators do not see them here. */
import { notDone } from './done.ts';
import { type Source, siteColumns, siteIdsIn } from './item.ts';

const sql = `
  select ${siteColumns}, blocked_at as at, block_reason as reason from site
  where account_id = ? and id = any(?) and blocked_at > ?
    and ${notDone({ kind: 'blocked_site', id: 'site.id', at: 'blocked_at' })}
  order by blocked_at desc limit ?`;

type Row = Record<'siteId' | 'siteName' | 'siteTitle' | 'at' | 'reason', string>;

export const blockedSites: Source<Row> = {
  kind: 'blocked_site',
  select(reader, since, { limit }) {
    const { accountId } = reader;
    return { sql, values: [accountId, siteIdsIn(reader), since, accountId, limit] };
  },
  item({ siteId, siteName, siteTitle, at, reason }) {
    return {
      id: siteId,
      site: { id: siteId, name: siteName },
      at: new Date(at),
      title: `The site ${siteTitle} has been blocked by the operator.`,
      message: reason,
      nextAction: 'Tell the owner the reason. They need to fix the problem and ask the operator to review the site.',
    };
  },
};
