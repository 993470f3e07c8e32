/**
 * The moves of a booking, whoever makes them: a call, a workflow, or money. Seats are taken under the lock of their calendar, after holds
 * that are past their time were written down; the constraint trigger `booking_seats` counts them once more.
 */
import type { Taken } from '../bookings/load.ts';
import type { Span } from '../bookings/opening.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { type Keyring, open, seal } from '../sealing.ts';
import { workflowIds } from '../workflows/ids.ts';
import { tellOfBooking } from './booking-mails.ts';
import { Booking } from './entities/booking.ts';
import { Site } from './entities/site.ts';
import type { EntityManager } from './orm.ts';
import { enqueue } from './outbox.ts';
import { type BookingStatus, bookingStatusAt } from './states.ts';

/** How to reach a visitor: never in a row as it is. `cancelSecret` opens the page that cancels. */
export type Reach = { email: string; cancelSecret: string };

/** Holds the calendar until the transaction ends: whoever takes seats of it, or changes it, waits here. */
export async function lockCalendars(tx: EntityManager, ids: readonly string[]): Promise<void> {
  for (const id of [...ids].sort()) await tx.execute('select 1 from calendar where id = ? for no key update', [id]);
}

/** Writes down that holds of the calendar are past their time, so that their seats can be given to others. */
export async function expireDueHolds(tx: EntityManager, now: Date, calendarId: string): Promise<void> {
  await tx.nativeUpdate(
    Booking,
    { calendar: calendarId, status: 'held', holdExpiresAt: { $lte: now } },
    { status: 'expired', visitorSealed: null },
  );
}

/** What is taken in the calendar at a moment of the span, bookings of the same time as one. */
export async function takenIn(em: EntityManager, now: Date, calendarId: string, span: Span): Promise<Taken[]> {
  return await em.execute<Taken[]>(
    `select extract(epoch from busy_from)::float8 * 1000 as from, extract(epoch from busy_until)::float8 * 1000 as until, sum(seats)::int as seats
     from booking
     where calendar_id = ? and busy_from >= ? and busy_from < ? and busy_until > ?
       and (status = 'confirmed' or (status = 'held' and hold_expires_at > ?))
     group by busy_from, busy_until`,
    // A booking is at most 4 days long: so the index finds those that began before the span.
    [calendarId, new Date(span.from - 4 * 24 * 3600_000), new Date(span.until), new Date(span.from), now],
  );
}

/** The condition of a query for bookings that are this now, deadlines included. */
export function bookingsThatAre(status: BookingStatus, now: Date) {
  if (status === 'held') return { status, holdExpiresAt: { $gt: now } };
  if (status === 'expired') return { $or: [{ status }, { status: 'held' as const, holdExpiresAt: { $lte: now } }] };
  return { status };
}

/** Bookings that stand and are not over. */
export function liveBookings(now: Date) {
  return {
    endsAt: { $gt: now },
    $or: [{ status: 'confirmed' as const }, { status: 'held' as const, holdExpiresAt: { $gt: now } }],
  };
}

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

/** Tells the hold's workflow, when the transaction commits, that the row has moved. */
export function tellHold(tx: EntityManager, clock: Clock, id: string): void {
  enqueue(tx, clock, { kind: 'signal', workflowId: workflowIds.holdBooking(id), message: { signal: 'moved' } });
}

export function sealReach(sealing: Keyring, bookingId: string, reach: Reach): Buffer {
  return seal(sealing, JSON.stringify(reach), `booking:${bookingId}`);
}

/**
 * Makes a hold a booking, and tells visitor and owner. False where it is none any more: cancelled, or past its time at `now`, which is
 * when the money came.
 */
export async function confirmHold(
  tx: EntityManager,
  { clock, config }: { clock: Clock; config: Config },
  { id, now }: { id: string; now: Date },
): Promise<boolean> {
  const booking = await tx.findOne(Booking, { id }, { populate: ['calendar'] });
  if (!booking) return false;
  await lockCalendars(tx, [booking.calendar.id]);
  await tx.refresh(booking, { populate: ['calendar'] });
  if (bookingStatusAt(booking, now) !== 'held' || !booking.visitorSealed) return false;
  const reach: Reach = JSON.parse(open(config.sealing, booking.visitorSealed, `booking:${id}`).toString());
  booking.status = 'confirmed';
  booking.visitorSealed = null;
  const site = await tx.findOneOrFail(Site, booking.site.id);
  await tellOfBooking(tx, { clock, config }, { booking, site, reach });
  tellHold(tx, clock, id);
  await tx.flush();
  return true;
}

/** Writes down that a hold has run out, if it has. Answers what it is, and for how long it stays so at most. */
export async function settleHold(
  em: EntityManager,
  now: Date,
  id: string,
): Promise<{ settled: true; status: string } | { settled: false; status: string; leftMs: number }> {
  await em.nativeUpdate(
    Booking,
    { id, status: 'held', holdExpiresAt: { $lte: now } },
    { status: 'expired', visitorSealed: null },
  );
  const booking = await em.findOne(Booking, { id });
  if (!booking) return { settled: true, status: 'gone' };
  const status = bookingStatusAt(booking, now);
  if (status !== 'held' || !booking.holdExpiresAt) return { settled: true, status };
  return { settled: false, status, leftMs: booking.holdExpiresAt.getTime() - now.getTime() };
}

/** Ends every hold of the site now: it takes no bookings any more. */
export async function endHolds(tx: EntityManager, clock: Clock, siteId: string): Promise<void> {
  const held = await tx.execute<{ id: string }[]>(
    `update booking set status = 'expired', visitor_sealed = null, hold_expires_at = least(hold_expires_at, ?)
     where site_id = ? and status = 'held' returning id`,
    [clock.now(), siteId],
  );
  for (const { id } of held) tellHold(tx, clock, id);
}

/** Writes down holds that ran out an hour ago and whose workflow never did, so that no address is kept. Answers how many. */
export async function sweepHolds(em: EntityManager, now: Date): Promise<number> {
  const due = { status: 'held' as const, holdExpiresAt: { $lt: new Date(now.getTime() - 3600_000) } };
  return await em.nativeUpdate(Booking, due, { status: 'expired', visitorSealed: null });
}
