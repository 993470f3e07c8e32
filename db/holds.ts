/** Seats held for who has yet to pay, from their start to their end: what `holdBooking`, an archived site and the sweep do. */
import type { Clock } from '../clock.ts';
import { workflowIds } from '../workflows/ids.ts';
import { expireDueHolds, lockCalendars, reachKept, tellHold } from './bookings.ts';
import { type Settled, settledAt } from './deadlines.ts';
import { Booking } from './entities/booking.ts';
import { Payment } from './entities/payment.ts';
import type { EntityManager } from './orm.ts';
import { enqueue } from './outbox.ts';
import { endPayment } from './payments.ts';
import { bookingStatusAt } from './states.ts';

/** The payment's workflow tells when a page is closed; without it the hold is looked at so often. */
const closingMs = 60_000;
const lateMs = 3600_000;
/** Money of which nobody could ask is looked for so long; after that its visitor cannot be told any more, and it goes back. */
const reachKeptMs = 8 * 24 * 3600_000;

/** Starts the workflow that sees the hold to its end, when the transaction commits. */
export function startHold(tx: EntityManager, clock: Clock, { id, site }: { id: string; site: string }): void {
  enqueue(tx, clock, {
    kind: 'start',
    workflowId: workflowIds.holdBooking(id),
    message: {
      type: 'holdBooking',
      input: { bookingId: id },
      summary: 'A seat held until it is paid for',
      searchAttributes: { Resource: id, SiteId: site },
    },
  });
}

/** Writes down that a hold has run out, if it has. Answers what it is, and for how long it stays so at most. */
export async function settleHold(em: EntityManager, now: Date, id: string): Promise<Settled> {
  await expireDueHolds(em, now, { id });
  const booking = await em.findOne(Booking, { id });
  if (!booking) return settledAt(now, undefined);
  const status = bookingStatusAt(booking, now);
  if (status !== 'held' || !booking.holdExpiresAt) return settledAt(now, { status, endsAt: undefined });
  const isOver = booking.holdExpiresAt <= now;
  return settledAt(now, { status, endsAt: isOver ? new Date(now.getTime() + closingMs) : booking.holdExpiresAt });
}

/** Ends every hold of the site now: it takes no bookings any more. What is paid from now on goes back. */
export async function endHolds(tx: EntityManager, clock: Clock, siteId: string): Promise<void> {
  await lockHolds(tx, siteId);
  const held = await tx.execute<{ id: string; payment_id: string | null }[]>(
    `update booking set status = 'expired', visitor_sealed = ${reachKept}, hold_expires_at = least(hold_expires_at, ?)
     where site_id = ? and status = 'held' returning id, payment_id`,
    [clock.now(), siteId],
  );
  for (const { id } of held) tellHold(tx, clock, id);
  const paid = held.flatMap(({ payment_id: id }) => (id ? [id] : []));
  for (const payment of await tx.find(Payment, { id: { $in: paid } }, { refresh: true }))
    endPayment(tx, clock, payment);
}

/** Calendars, then payments, as everybody who settles money locks them. */
async function lockHolds(tx: EntityManager, siteId: string): Promise<void> {
  const held = await tx.execute<{ calendar_id: string }[]>(
    `select distinct calendar_id from booking where site_id = ? and status = 'held'`,
    [siteId],
  );
  const calendars = held.map((one) => one.calendar_id);
  await lockCalendars(tx, calendars);
  await tx.execute(
    `select 1 from payment where id in (select payment_id from booking where site_id = ? and status = 'held') order by id for update`,
    [siteId],
  );
}

/**
 * Writes down holds that ran out an hour ago and whose workflow never did, and forgets visitors whose money nobody could ask about for days: no
 * address is kept. Answers how many.
 */
export async function sweepHolds(em: EntityManager, now: Date): Promise<number> {
  const before = (ms: number) => new Date(now.getTime() - ms);
  const expired = await expireDueHolds(em, before(lateMs), {});
  const forgotten = await em.nativeUpdate(
    Booking,
    { status: { $ne: 'held' }, visitorSealed: { $ne: null }, holdExpiresAt: { $lt: before(reachKeptMs) } },
    { visitorSealed: null },
  );
  return expired + forgotten;
}
