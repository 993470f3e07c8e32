/** What ends or is lost when a site is deleted for good. */
import type { EntityManager } from '#db/orm.ts';

/** `domains` stay in the account and show nothing then. */
export type SiteContents = {
  forms: number;
  submissions: number;
  comments: number;
  feeds: number;
  agreements: number;
  domains: string[];
};

export async function contentsOfSite(em: EntityManager, now: Date, siteId: string): Promise<SiteContents> {
  const [contents] = await em.execute<[SiteContents]>(
    `select
       (select count(*)::int from form where site_id = site.id) as forms,
       (select count(*)::int from submission join form on form.id = form_id where form.site_id = site.id) as submissions,
       (select count(*)::int from comment_thread where site_id = site.id) as comments,
       (select count(*)::int from calendar_feed where site_id = site.id and ended_at is null
          and (expires_at is null or expires_at > ?)) as feeds,
       (select count(*)::int from payout_agreement where site_id = site.id and ended_at is null) as agreements,
       (select coalesce(jsonb_agg(name order by name), '[]') from domain where site_id = site.id) as domains
     from site where id = ?`,
    [now, siteId],
  );
  return contents;
}
