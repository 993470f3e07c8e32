/** What a history names: its page and what is known of it, where it still exists and its reader can open it. */
import type { FastifyRequest } from 'fastify';
import { siteNamesOf } from '#api/access.ts';
import { textArray } from '#db/arrays.ts';
import type { Deps } from '#runtime/deps.ts';
import type { About } from '#web/console/acts.ts';
import { type SiteTab, sitePath } from '#web/console/tabs.ts';

type Act = { action: string; subject: { id: string }; detail: Record<string, unknown> };
type Found = {
  id: string;
  kind: string;
  siteId: string | null;
  name: string | null;
  status: string | null;
  timeZone: string | null;
};
/** `path`: of its page. `name`: the visitor of a booking, or what a payment is for. */
export type Known = About & { path: string; name: string | null };

const sql = `
  select id, 'version' as kind, site_id as "siteId", null as name, status, null as "timeZone" from deployment where id = any(?)
  union all select submission.id, 'messages', site_id, null, null, null from submission join form on form.id = form_id
    where submission.id = any(?) and submission.expires_at > ?
  union all select booking.id, 'bookings', booking.site_id, nullif(visitor_name, ''), null, time_zone
    from booking join calendar on calendar.id = calendar_id where booking.id = any(?)
  union all select payment.id, 'payments', payment.site_id, coalesce(nullif(visitor_name, ''), payment.description), null, null
    from payment left join booking on booking.payment_id = payment.id where payment.id = any(?)
  union all select id, case status when 'open' then 'comments' else 'resolved' end, site_id, null, null, null from comment_thread where id = any(?)
  union all select id, 'domains', site_id, null, null, null from domain where id = any(?) and site_id is not null and removed_at is null
  union all select id, 'payout', null, null, null, null from payout_account where id = any(?) and account_id = ? and status <> 'gone'`;

/** By the id of each thing. `siteId`: of the page, which does not link to the site itself. */
export async function knownOf(
  { clock }: Pick<Deps, 'clock'>,
  { em, actor }: FastifyRequest,
  acts: readonly Act[],
  siteId?: string,
): Promise<Map<string, Known>> {
  const ids = textArray([...new Set(acts.map(thingOf))]);
  const values = [ids, ids, clock.now(), ids, ids, ids, ids, ids, actor.accountId];
  const [found, sites] = [await em.execute<Found[]>(sql, values), await siteNamesOf(em, actor)];
  const known = new Map<string, Known>();
  for (const { id, kind, siteId: site, name, status, timeZone } of found) {
    if (site !== null && !sites.has(site)) continue;
    const path = site === null ? `/account/payouts/${id}` : pathOf(site, kind, id);
    known.set(id, { path, name, ...(status ? { status } : {}), ...(timeZone ? { timeZone } : {}) });
  }
  for (const id of sites.keys()) if (id !== siteId) known.set(id, { path: sitePath(id), name: null });
  return known;
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
