/** The live version of each of the reader's own sites, if a push of their own account published it. */
import { call } from '#rules/calls/calls.ts';
import { notDone } from './done.ts';
import { newsSince, type Source, siteColumns, siteIdsIn } from './item.ts';

// A restored version is live under another ticket than its own.
const sql = `
  select version.id, version.number, version.live_at as at, version.created_via_name as via, ${siteColumns}
  from site
  join deployment version on version.id = site.live_deployment_id and version.ticket = site.live_ticket
  where site.id = any(?) and site.account_id = ? and site.status = 'active'
    and version.created_via = 'git' and version.created_by_id = site.account_id
    and version.live_at > ? and ${notDone({ kind: 'push_published', id: 'version.id', at: 'version.live_at' })}
  order by version.live_at desc limit ?`;

type Row = Record<'id' | 'siteId' | 'siteName' | 'siteTitle', string> & {
  number: number;
  via: string | null;
  at: string | Date;
};

export const pushedVersions: Source<Row> = {
  kind: 'push_published',
  select(reader, since, { now, limit }) {
    const { accountId } = reader;
    return { sql, values: [siteIdsIn(reader), accountId, newsSince(since, now), accountId, limit] };
  },
  item({ id, number, at, via, siteId, siteName, siteTitle }) {
    return {
      id,
      site: { id: siteId, name: siteName },
      slot: null,
      who: via,
      at: new Date(at),
      title: `Changes that were sent with git are live as version ${number} of ${siteTitle}.`,
      nextAction: `Nothing is required. ${call('deployment.read', { id })} returns the version and its warnings.`,
    };
  },
};
