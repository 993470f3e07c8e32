/** What visitors still wait for when a site, or an account with its sites, is deleted. */
import type { EntityManager } from '#db/orm.ts';

/** Open payments, payments that are being refunded, future bookings, and how many of these are paid. */
export type Pending = { payments: number; refunds: number; bookings: number; paid_bookings: number };

/** A condition of SQL on `site_id`, and for payments on `payout_account_id` too. */
type Condition = { where: string; values: string[] };

const isHeld = "(status = 'held' and (paying or hold_expires_at > ?))";
const ownSites = 'site_id in (select id from site where account_id = ? and purged_at is null)';
const ownPayouts = 'payout_account_id in (select id from payout_account where account_id = ?)';

export async function pendingOfSite(em: EntityManager, now: Date, siteId: string): Promise<Pending> {
  const onSite = { where: 'site_id = ?', values: [siteId] };
  return await count(em, now, { payments: onSite, bookings: onSite });
}

/** Bookings of the site whose seats are held until they are paid: they end when it is archived. */
export async function heldOfSite(em: EntityManager, now: Date, siteId: string): Promise<number> {
  const [{ n }] = await em.execute<[{ n: number }]>(
    `select count(*)::int as n from booking where site_id = ? and kind = 'booking' and ends_at > ? and ${isHeld}`,
    [siteId, now, now],
  );
  return n;
}

/** Of all sites of the account that are not purged, and of payments into its payout accounts. */
export async function pendingOfAccount(em: EntityManager, now: Date, accountId: string): Promise<Pending> {
  return await count(em, now, {
    payments: { where: `(${ownSites} or ${ownPayouts})`, values: [accountId, accountId] },
    bookings: { where: ownSites, values: [accountId] },
  });
}

async function count(
  em: EntityManager,
  now: Date,
  { payments, bookings }: { payments: Condition; bookings: Condition },
): Promise<Pending> {
  const [counts] = await em.execute<[Pending]>(
    `select
       (select count(*)::int from payment where ${payments.where} and status = 'open' and expires_at > ?) as payments,
       (select count(*)::int from payment where ${payments.where}
          and (status = 'refunding' or refunding_amount > 0)) as refunds,
       future.*
     from (
       select count(*)::int as bookings, (count(*) filter (where exists (
         select 1 from payment where payment.id = booking.payment_id and payment.status = 'paid')))::int as paid_bookings
       from booking where ${bookings.where} and kind = 'booking' and ends_at > ? and (status = 'confirmed' or ${isHeld})
     ) as future`,
    [...payments.values, now, ...payments.values, ...bookings.values, now, now],
  );
  return counts;
}
