/** The pages of what a history names, where it still exists and its reader can open it. */
import type { FastifyRequest } from 'fastify';
import { siteNamesOf } from '#api/access.ts';
import { textArray } from '#db/arrays.ts';
import type { Deps } from '#runtime/deps.ts';
import { type SiteTab, sitePath } from '#web/console/tabs.ts';

type Act = { action: string; subject: { id: string }; detail: Record<string, unknown> };
type Found = { id: string; kind: string; siteId: string | null };

const sql = `
  select id, 'version' as kind, site_id as "siteId" from deployment where id = any(?)
  union all select submission.id, 'messages', site_id from submission join form on form.id = form_id
    where submission.id = any(?) and submission.expires_at > ?
  union all select id, 'bookings', site_id from booking where id = any(?)
  union all select id, 'payments', site_id from payment where id = any(?)
  union all select id, case status when 'open' then 'comments' else 'resolved' end, site_id from comment_thread where id = any(?)
  union all select id, 'domains', site_id from domain where id = any(?) and site_id is not null and removed_at is null
  union all select id, 'payout', null from payout_account where id = any(?) and account_id = ? and status <> 'gone'`;

/** The path of each thing's page, by its id. `siteId`: of the page, which does not link to the site itself. */
export async function pathsOf(
  { clock }: Pick<Deps, 'clock'>,
  { em, actor }: FastifyRequest,
  acts: readonly Act[],
  siteId?: string,
): Promise<Map<string, string>> {
  const ids = textArray([...new Set(acts.map(thingOf))]);
  const values = [ids, ids, clock.now(), ids, ids, ids, ids, ids, actor.accountId];
  const [found, sites] = [await em.execute<Found[]>(sql, values), await siteNamesOf(em, actor)];
  const paths = new Map<string, string>();
  for (const { id, kind, siteId: site } of found) {
    if (site === null) paths.set(id, `/account/payouts/${id}`);
    else if (sites.has(site)) paths.set(id, pathOf(site, kind, id));
  }
  for (const id of sites.keys()) if (id !== siteId) paths.set(id, sitePath(id));
  return paths;
}

/** A publish is about its version. */
export const thingOf = ({ subject, detail }: Act): string =>
  typeof detail.deployment_id === 'string' ? detail.deployment_id : subject.id;

function pathOf(site: string, kind: string, id: string): string {
  if (kind === 'version') return `${sitePath(site)}/versions/${id}`;
  if (kind === 'comments') return `${sitePath(site, 'comments')}#${id}`;
  if (kind === 'resolved') return `${sitePath(site, 'comments')}?status=resolved#${id}`;
  return `${sitePath(site, kind as SiteTab)}/${id}`;
}
