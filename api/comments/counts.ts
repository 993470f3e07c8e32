/** Counts of open threads by site. */
import type { EntityManager } from '#db/orm.ts';

/** Open threads of each of these sites, in one query; a site without any is absent. */
export async function openCommentsOf(em: EntityManager, siteIds: readonly string[]): Promise<Map<string, number>> {
  if (siteIds.length === 0) return new Map();
  const rows = await em.execute<{ site_id: string; open: number }[]>(
    `select site_id, count(*)::int as open from comment_thread
     where status = 'open' and site_id in (${siteIds.map(() => '?').join(', ')}) group by site_id`,
    [...siteIds],
  );
  return new Map(rows.map(({ site_id, open }) => [site_id, open]));
}
