/** Payments of the last week that were not refunded, and refunds that failed until they are requested again: also of archived sites. */
import { bookingDescription } from '#rules/bookings/description.ts';
import { call } from '#rules/calls/calls.ts';
import { written } from '#rules/currencies.ts';
import { dayMs } from '#rules/time.ts';
import { notDone } from './done.ts';
import { archivedNote, isArchived, type Source, siteColumns, siteIdsIn } from './item.ts';

const weekMs = 7 * dayMs;

const sqlFor = (kind: 'payment_paid' | 'refund_failed', at: string, condition: string) => `
  select payment.id, payment.${at} as at, payment.amount, payment.currency, payment.reference, payment.description,
    booking.id as "bookingId", booking.visitor_name as visitor, booking.service_name as service, booking.starts_at as start, booking.seats,
    calendar.time_zone as "timeZone", ${siteColumns}, ${isArchived}
  from payment
  join site on site.id = payment.site_id
  left join booking on booking.payment_id = payment.id
  left join calendar on calendar.id = booking.calendar_id
  where payment.site_id = any(?) and payment.${at} > ? ${condition}
    and ${notDone({ kind, id: 'payment.id', at: `payment.${at}` })}
  order by payment.${at} desc limit ?`;

type Row = Record<'id' | 'at' | 'currency' | 'siteId' | 'siteName' | 'siteTitle', string> & {
  amount: number;
  bookingId: string | null;
  isArchived: boolean;
  reference: string | null;
  description: string | null;
} & ({ visitor: null } | { visitor: string; service: string; start: string; seats: number; timeZone: string });

export const recentPayments: Source<Row> = {
  kind: 'payment_paid',
  select(reader, since, { now, limit }) {
    const after = new Date(Math.max(since.getTime(), now.getTime() - weekMs));
    return { sql: paid, values: [siteIdsIn(reader), after, reader.accountId, limit] };
  },
  item(row) {
    const { id, siteTitle, bookingId } = row;
    const description = descriptionOf(row);
    return {
      ...common(row),
      title: `${written(row)} was paid on ${siteTitle}${description === null ? '' : `: ${description}`}.${archivedNote(row)}`,
      nextAction: `Tell the owner. ${call('payment.read', { id })} returns the payment; ${call('payment.refund', { id })} refunds it.`,
      ...(bookingId === null ? {} : { booking: { id: bookingId, paid: written(row) } }),
    };
  },
};
const paid = sqlFor('payment_paid', 'paid_at', "and payment.status = 'paid'");

export const failedRefunds: Source<Row> = {
  kind: 'refund_failed',
  select(reader, since, { limit }) {
    return { sql: failed, values: [siteIdsIn(reader), since, reader.accountId, limit] };
  },
  item(row) {
    const { id, siteTitle } = row;
    return {
      ...common(row),
      title: `A refund of a payment of ${written(row)} on ${siteTitle} failed: the payer has not received the money.${archivedNote(row)}`,
      nextAction: `Tell the owner to add funds or a new key to the payout account. Then the owner’s agent calls ${call('payment.refund', { id })} again, or the owner refunds it in the payment provider’s dashboard.`,
    };
  },
};
const failed = sqlFor('refund_failed', 'refund_failed_at', '');

function common({ id, siteId, siteName, at, reference, visitor }: Row) {
  const site = { id: siteId, name: siteName };
  return { id, site, who: visitor, at: new Date(at), ...(reference === null ? {} : { message: reference }) };
}

function descriptionOf(row: Row): string | null {
  if (row.description !== null || row.visitor === null) return row.description;
  return bookingDescription({ ...row, startsAt: new Date(row.start) });
}
