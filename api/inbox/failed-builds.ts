/**
 * Failed builds: of a site until a later version is live or in progress, of a preview slot until it is rebuilt or
 * cleared.
 */

import { sqlList } from '#db/arrays.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { call } from '#rules/calls/calls.ts';
import { publishKinds, unfinishedStatuses } from '#rules/states.ts';
import { notDone } from './done.ts';
import { actorName, type InboxItem, type Reader, type Source } from './item.ts';

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
  select id from (select * from publishes union all select * from drafts) as waiting
  where finished_at > ? and ${notDone({ kind: 'failed_build', id: 'waiting.id', at: 'waiting.finished_at' })} order by finished_at desc limit ?`;

/** Only the last failed build of each site and preview slot. */
export const failedBuilds: Source = async (em, { siteIds, accountId }: Reader, since, { limit }) => {
  const rows: { id: string }[] = await em.execute(sql, [`{${siteIds.join(',')}}`, since, accountId, limit]);
  if (rows.length === 0) return [];
  const failed = await em.find(
    Deployment,
    { id: { $in: rows.map(({ id }) => id) } },
    { populate: ['site', 'createdBy'] },
  );
  return failed.map((deployment): InboxItem => {
    const { id, number, slot, site, error, finishedAt, createdAt, createdBy, createdViaName } = deployment;
    const isDraft = typeof slot === 'number';
    const again = isDraft ? call('preview.build', { id: site, slot: slot ?? 1 }) : call('site.publish', { id: site });
    return {
      kind: 'failed_build',
      id,
      site: { id: site.id, name: site.name },
      slot: slot ?? null,
      who: actorName({ accountId }, createdBy, createdViaName),
      at: finishedAt ?? createdAt,
      title: isDraft
        ? `The draft in preview slot ${slot} of ${site.name} could not be built.`
        : `Version ${number} of ${site.name} could not be published.`,
      ...(error ? { message: error.message } : {}),
      nextAction: `Call ${call('deployment.read', { id })} to read the log, fix the problem, and call ${again}.`,
    };
  });
};
