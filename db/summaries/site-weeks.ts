/** What happened on an account's sites in a week. */
import { countVisitors } from '#db/analytics/queries.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { EntityManager } from '#db/orm.ts';
import { written } from '#rules/currencies.ts';
import type { Config } from '#runtime/config.ts';
import type { SiteWeek } from '#web/mails/owner/weekly-summary.ts';
import type { Week } from './week.ts';

type Counts = Pick<SiteWeek, 'enquiries' | 'bookings' | 'payments' | 'openComments' | 'publishes'>;
type Row = { id: string; name: string; newComments: number } & Counts;

/** Without money that went back, or is on its way back. */
const kept = `payment.status = 'paid'`;

const during = (column: string) => `${column} >= week.from_at and ${column} < week.until_at`;

const countsSql = `
  with week as (select ?::timestamptz as from_at, ?::timestamptz as until_at)
  select site.id, site.name,
    (select count(*)::int from submission join form on form.id = submission.form_id
      where form.site_id = site.id and not submission.spam and ${during('submission.created_at')}) as enquiries,
    (select count(*)::int from booking where site_id = site.id and kind = 'booking' and status = 'confirmed'
      and ${during('booking.created_at')}) as bookings,
    (select count(*)::int from payment where site_id = site.id and ${kept} and ${during('payment.paid_at')}) as payments,
    (select count(*)::int from deployment where site_id = site.id and ${during('deployment.live_at')}) as publishes,
    (select count(*)::int from comment_thread where site_id = site.id and status = 'open') as "openComments",
    (select count(*)::int from comment_thread where site_id = site.id and ${during('comment_thread.created_at')})
      as "newComments"
  from site, week where site.account_id = ? and site.delete_at is null and site.purged_at is null order by site.id`;

/** The account's sites on which something happened, the most visited first. */
export async function siteWeeksOf(
  em: EntityManager,
  config: Config,
  accountId: string,
  week: Week,
): Promise<SiteWeek[]> {
  const rows = await em.execute<Row[]>(countsSql, [week.from, week.until, accountId]);
  const paid = await paidOn(em, accountId, week);
  const weeks: SiteWeek[] = [];
  for (const { id, name, newComments, ...counts } of rows) {
    const visits = await countVisitors(em, id, week.from, week.until);
    const { enquiries, bookings, payments, publishes } = counts;
    // Comments that were open before are no news.
    if (visits + enquiries + bookings + payments + publishes + newComments === 0) continue;
    const { hostname } = await canonicalUrl(em, config, { id, name });
    weeks.push({ hostname, visits, ...counts, paid: paid.get(id) ?? [] });
  }
  return weeks.sort((a, b) => b.visits - a.visits);
}

/** The formatted sums by site, one for each currency. */
async function paidOn(em: EntityManager, accountId: string, week: Week): Promise<Map<string, string[]>> {
  const rows = await em.execute<{ site_id: string; currency: string; amount: string }[]>(
    `select site_id, currency, sum(amount - refunded_amount - refunding_amount)::text as amount from payment
     where site_id in (select id from site where account_id = ?) and ${kept} and paid_at >= ? and paid_at < ?
     group by site_id, currency order by currency`,
    [accountId, week.from, week.until],
  );
  const sums = Map.groupBy(rows, ({ site_id }) => site_id);
  const format = ({ currency, amount }: (typeof rows)[number]) => written({ amount: Number(amount), currency });
  return new Map([...sums].map(([siteId, of]) => [siteId, of.map(format)]));
}
