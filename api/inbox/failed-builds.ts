/** Builds that failed, for as long as nothing later of their site went live or is on its way. */
import { Deployment } from '../../db/entities/deployment.ts';
import { type InboxItem, itemsMax, type Reader, type Source } from './item.ts';

const sql = `
  select id from (
    select distinct on (failed.site_id) failed.id, failed.finished_at
    from deployment failed join site on site.id = failed.site_id and site.status = 'active'
    where failed.site_id = any(?) and failed.status = 'failed' and failed.kind in ('site', 'posts')
      and failed.ticket > site.live_ticket
      and not exists (
        select 1 from deployment later
        where later.site_id = failed.site_id and later.ticket > failed.ticket and later.status in ('queued', 'building', 'storing'))
    order by failed.site_id, failed.ticket desc) as last
  where finished_at > ? order by finished_at desc limit ?`;

/** The last one of each site alone: the others were tried again already. */
export const failedBuilds: Source = async (em, { siteIds }: Reader, since) => {
  const rows: { id: string }[] = await em.execute(sql, [`{${siteIds.join(',')}}`, since, itemsMax]);
  if (rows.length === 0) return [];
  const failed = await em.find(Deployment, { id: { $in: rows.map(({ id }) => id) } }, { populate: ['site'] });
  return failed.map(({ id, number, site, error, finishedAt, createdAt }): InboxItem => {
    const reading = `Read GET /v1/deployments/${id} for the log`;
    return {
      kind: 'failed_build',
      id,
      site: { id: site.id, name: site.name },
      at: finishedAt ?? createdAt,
      title: `Version ${number} of ${site.name} was not published.`,
      ...(error ? { message: error.message } : {}),
      nextAction: `${reading}, mend what it names, and call POST /v1/sites/${site.id}/publish.`,
    };
  });
};
