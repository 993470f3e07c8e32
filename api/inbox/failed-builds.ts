/**
 * Failed builds: of a site until a later version is live or in progress, of a preview slot until it is rebuilt or
 * cleared.
 */

import { sqlList } from '#db/arrays.ts';
import { reasonOf } from '#rules/builds/failures.ts';
import { call } from '#rules/calls/calls.ts';
import { publishKinds, unfinishedStatuses } from '#rules/states.ts';
import { notDone } from './done.ts';
import { actorName, type Source, siteColumns, siteIdsIn } from './item.ts';

const sql = `
  with failed as (
    select deployment.id, site_id, kind, ticket, finished_at from deployment join site on site.id = deployment.site_id and site.status = 'active'
    where deployment.site_id = any(?) and deployment.status = 'failed'
  ), publishes as (
    select distinct on (failed.site_id) failed.id, failed.finished_at
    from failed join site on site.id = failed.site_id
    where failed.kind in ${sqlList(publishKinds)} and failed.ticket > site.live_ticket and not exists (
      select 1 from deployment later
      where later.site_id = failed.site_id and later.ticket > failed.ticket and later.status in ${sqlList(unfinishedStatuses)})
    order by failed.site_id, failed.ticket desc
  ), drafts as (
    select failed.id, failed.finished_at from failed join preview on preview.latest_id = failed.id and preview.removed_at is null
  )
  select deployment.id, deployment.number, deployment.slot, deployment.error, deployment.finished_at as at,
    deployment.created_via_name as via, maker.id as "makerId", maker.name as maker, ${siteColumns}
  from (select * from publishes union all select * from drafts) as waiting
  join deployment on deployment.id = waiting.id
  join site on site.id = deployment.site_id
  join account maker on maker.id = deployment.created_by_id
  where waiting.finished_at > ? and ${notDone({ kind: 'failed_build', id: 'waiting.id', at: 'waiting.finished_at' })}
  order by waiting.finished_at desc limit ?`;

type Row = Record<'id' | 'at' | 'makerId' | 'maker' | 'siteId' | 'siteName' | 'siteTitle', string> & {
  number: number;
  slot: number | null;
  error: { code: string; message: string } | null;
  via: string | null;
};

/** Only the last failed build of each site and preview slot. */
export const failedBuilds: Source<Row> = {
  kind: 'failed_build',
  select(reader, since, { limit }) {
    return { sql, values: [siteIdsIn(reader), since, reader.accountId, limit] };
  },
  item({ id, number, slot, error, at, via, makerId, maker, siteId, siteName, siteTitle }, reader) {
    const again = slot === null ? call('site.publish', { id: siteId }) : call('preview.build', { id: siteId, slot });
    return {
      id,
      site: { id: siteId, name: siteName },
      slot,
      who: actorName(reader, { id: makerId, name: maker }, via),
      at: new Date(at),
      title:
        slot === null
          ? `Version ${number} of ${siteTitle} could not be published.`
          : `The draft in preview slot ${slot} of ${siteTitle} could not be built.`,
      ...(error ? { message: error.message, plain: reasonOf(error).sentence } : {}),
      nextAction: `Call ${call('deployment.read', { id })} to read the log, fix the problem, and call ${again}.`,
    };
  },
};
