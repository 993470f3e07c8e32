/**
 * Seats of calendars. They are counted, and a booking of them is inserted or confirmed, under the lock of their
 * calendar. The trigger `booking_seats` also refuses a write beyond the capacity; only code without the lock meets it,
 * and its error is not translated.
 */
import { raw } from '@mikro-orm/core';
import type { EntityManager } from '#db/orm.ts';
import { isClosed } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import { signalWorkflow } from '#db/workflow-messages.ts';
import { longestMs } from '#rules/bookings/bounds.ts';
import { occupancyOf, peakOccupancy, type Taken } from '#rules/bookings/occupancy.ts';
import type { Span } from '#rules/bookings/opening-hours.ts';
import { type BookingStatus, bookingStatusAt } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import type { BookingCalendar } from './bookable.ts';
import { Booking, type WholeBooking } from './booking.ts';
import { queueBookingMails } from './mails.ts';
import { decryptContact, retainedContact } from './visitor-contact.ts';

/**
 * Locks the calendars until the transaction ends, in the order of their ids. Code that reserves seats or changes a
 * calendar waits here.
 */
export async function lockCalendars(tx: EntityManager, ids: readonly string[]): Promise<void> {
  for (const id of [...ids].sort()) await tx.execute('select 1 from calendar where id = ? for no key update', [id]);
}

/**
 * Locks the calendar of a booking, and others, until the transaction ends. The booking may move while this waits: then its
 * calendar is another one. The savepoint gives the locks back, so that they are always taken in one order.
 */
export async function lockCalendarOf(tx: EntityManager, bookingId: string, others: readonly string[] = []) {
  for (;;) {
    const id = await calendarIdOf(tx, bookingId);
    await tx.execute('savepoint before_calendars');
    await lockCalendars(tx, [...new Set([id, ...others])]);
    if ((await calendarIdOf(tx, bookingId)) === id) return;
    await tx.execute('rollback to savepoint before_calendars');
  }
}

async function calendarIdOf(tx: EntityManager, bookingId: string): Promise<string> {
  const rows = await tx.execute<[{ id: string }]>('select calendar_id as id from booking where id = ?', [bookingId]);
  return rows[0].id;
}

/** Overdue holds. A hold whose checkout session may still be open remains until that is closed. */
const dueHolds = (now: Date) => ({ status: 'held' as const, paying: false, holdExpiresAt: { $lte: now } });

/** Marks overdue holds as expired, so that their seats are free. Returns how many. */
export async function expireDueHolds(em: EntityManager, now: Date, where: { id: string } | { calendar: string }) {
  return await em.nativeUpdate(
    Booking,
    { ...where, ...dueHolds(now) },
    { status: 'expired', visitorSealed: raw(retainedContact) as never },
  );
}

/**
 * The same for all calendars, one hold after another: calls and activities mark several holds of the calendar that they have
 * locked, in another order.
 */
export async function expireEachDueHold(em: EntityManager, now: Date): Promise<number> {
  let expired = 0;
  for (const { id } of await em.find(Booking, dueHolds(now), { fields: ['id'] }))
    expired += await expireDueHolds(em, now, { id });
  return expired;
}

/**
 * Seats taken in the calendar during the span, by all bookings but one. Confirmed bookings of the same time are one entry;
 * they are read from the index `booking_confirmed` alone, which needs a query without other columns.
 */
export async function takenSeats(
  em: EntityManager,
  now: Date,
  calendarId: string,
  span: Span,
  except = '',
): Promise<Taken[]> {
  const inSpan = `calendar_id = ? and busy_from >= ? and busy_from < ? and busy_until > ?${except ? ' and id <> ?' : ''}`;
  // A booking lasts at most 4 days, so the index also finds those that began before the span.
  const times = [new Date(span.from - longestMs), new Date(span.until), new Date(span.from)];
  const values = [calendarId, ...times, ...(except ? [except] : [])];
  return await em.execute<Taken[]>(
    `select extract(epoch from busy_from)::float8 * 1000 as from, extract(epoch from busy_until)::float8 * 1000 as until, seats
     from (
       select busy_from, busy_until, sum(seats)::int as seats from booking where status = 'confirmed' and ${inSpan}
         group by busy_from, busy_until
       union all
       select busy_from, busy_until, seats from booking
         where status = 'held' and (paying or hold_expires_at > ?) and ${inSpan}
     ) taken`,
    [...values, now, ...values],
  );
}

/** The condition of a query for bookings with this status now, deadlines included. */
export function bookingsWithStatus(status: BookingStatus, now: Date) {
  if (status === 'held') return heldAt(now);
  if (status === 'expired') return { $or: [{ status }, dueHolds(now)] };
  return { status };
}

const heldAt = (now: Date) => ({ status: 'held' as const, $or: [{ paying: true }, { holdExpiresAt: { $gt: now } }] });

/** Valid bookings that have not ended. */
export function liveBookings(now: Date) {
  return {
    endsAt: { $gt: now },
    $or: [{ status: 'confirmed' as const }, heldAt(now)],
  };
}

/** Signals the hold's workflow, when the transaction commits, that the row has changed. */
export function signalHoldBooking(tx: EntityManager, clock: Clock, id: string): void {
  signalWorkflow(tx, clock, 'holdBooking', { bookingId: id }, 'moved');
}

/**
 * How many seats of the calendar are free for the whole span; overdue holds are expired first. The caller has locked
 * the calendar, so the seats stay free until its transaction inserts the booking, or moves the one that `except` names.
 */
export async function countFreeSeats(
  tx: EntityManager,
  now: Date,
  calendar: Pick<BookingCalendar, 'id' | 'capacity'>,
  span: Span,
  except?: string,
): Promise<number> {
  await expireDueHolds(tx, now, { calendar: calendar.id });
  const taken = await takenSeats(tx, now, calendar.id, span, except);
  return Math.max(0, calendar.capacity - peakOccupancy(occupancyOf(taken), span));
}

/**
 * Fits the blocks of a calendar to its new capacity: one of the whole calendar remains one. The calendar is locked, and
 * has the new capacity.
 */
export async function resizeBlocks(
  tx: EntityManager,
  now: Date,
  { id, capacity, before = capacity }: { id: string; capacity: number; before: number | undefined },
): Promise<void> {
  if (capacity === before) return;
  await tx.execute(
    `update booking block set seats = ?
     where calendar_id = ? and kind = 'block' and status = 'confirmed' and ends_at > ?
       and (seats > ? or (seats = ? and not exists (select 1 from booking other
         where other.calendar_id = block.calendar_id and other.id <> block.id and other.status in ('held', 'confirmed')
           and other.busy_from > block.busy_from - interval '4 days' and other.busy_from < block.busy_until
           and other.busy_until > block.busy_from)))`,
    [capacity, id, now, capacity, before],
  );
}

/**
 * Confirms a paid booking and queues its mails: a hold, or an expired one if its seats are still free. Returns false
 * where they are taken, where the booking was cancelled, or where the visitor's address was deleted. The calendar is
 * locked.
 */
export async function confirmPaid(
  tx: EntityManager,
  deps: { clock: Clock; config: Config },
  booking: WholeBooking,
): Promise<boolean> {
  const now = deps.clock.now();
  const status = bookingStatusAt(booking, now);
  const sealed = booking.visitorSealed;
  // Without an address the visitor would not learn of the booking.
  if (status !== 'held' && !(status === 'expired' && sealed && (await canReserveAgain(tx, now, booking)))) return false;
  Object.assign(booking, { status: 'confirmed', visitorSealed: null });
  const site = await tx.findOneOrFail(Site, booking.site.id);
  const contact = sealed && decryptContact(deps.config, booking.id, sealed);
  if (contact) await queueBookingMails(tx, deps, { booking, site, contact });
  signalHoldBooking(tx, deps.clock, booking.id);
  await tx.flush();
  return true;
}

/** Whether an expired booking can have its seats back: the site still accepts bookings, and the seats are free. */
async function canReserveAgain(tx: EntityManager, now: Date, booking: WholeBooking): Promise<boolean> {
  const { calendar, seats, busyFrom, busyUntil } = booking;
  const site = await tx.findOneOrFail(Site, booking.site.id, { refresh: true });
  if (isClosed(site) || calendar.archivedAt || booking.startsAt <= now) return false;
  const span = { from: busyFrom.getTime(), until: busyUntil.getTime() };
  return seats <= (await countFreeSeats(tx, now, calendar, span));
}
