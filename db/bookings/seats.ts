/**
 * The moves of a booking, whoever makes them: a call, a workflow, or money. Seats are taken under the lock of their calendar, after holds
 * that are past their time were written down; the constraint trigger `booking_seats` counts them once more.
 */
import { raw } from '@mikro-orm/core';
import { contextOf } from '#db/encrypted-columns.ts';
import type { EntityManager } from '#db/orm.ts';
import { isClosed } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import { signalWorkflow } from '#db/workflow-messages.ts';
import { loadOf, peakOf, type Taken } from '#rules/bookings/occupancy.ts';
import type { Span } from '#rules/bookings/opening-hours.ts';
import { type BookingStatus, bookingStatusAt, unknownAttempts } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { decrypt, type EncryptionKeys, encrypt } from '#runtime/encryption.ts';
import { Booking, type WholeBooking } from './booking.ts';
import { tellOfBooking } from './mails.ts';

/** How to reach a visitor: never in a row as it is. `cancelSecret` opens the page that cancels. */
export type Reach = { email: string; cancelSecret: string };

/** Holds the calendar until the transaction ends: whoever takes seats of it, or changes it, waits here. */
export async function lockCalendars(tx: EntityManager, ids: readonly string[]): Promise<void> {
  for (const id of [...ids].sort()) await tx.execute('select 1 from calendar where id = ? for no key update', [id]);
}

/** Holds past their time. Those on whose page somebody may still pay are held until it is closed. */
const dueHolds = (now: Date) => ({ status: 'held' as const, paying: false, holdExpiresAt: { $lte: now } });

/** Writes down that these holds are past their time, so that their seats can be given to others. Answers how many. */
export async function expireDueHolds(em: EntityManager, now: Date, where: { id?: string; calendar?: string }) {
  return await em.nativeUpdate(
    Booking,
    { ...where, ...dueHolds(now) },
    { status: 'expired', visitorSealed: raw(reachKept) as never },
  );
}

/** SQL for what a booking that is not held keeps of its visitor: how to reach them for as long as money may turn up, then nothing. */
export const reachKept = `case when exists (select 1 from payment_attempt a where a.payment_id = booking.payment_id
  and a.status in (${unknownAttempts.map((status) => `'${status}'`).join(', ')})) then visitor_sealed end`;

/** What is taken in the calendar at a moment of the span, bookings of the same time as one. */
export async function takenIn(em: EntityManager, now: Date, calendarId: string, span: Span): Promise<Taken[]> {
  return await em.execute<Taken[]>(
    `select extract(epoch from busy_from)::float8 * 1000 as from, extract(epoch from busy_until)::float8 * 1000 as until, sum(seats)::int as seats
     from booking
     where calendar_id = ? and busy_from >= ? and busy_from < ? and busy_until > ?
       and (status = 'confirmed' or (status = 'held' and (paying or hold_expires_at > ?)))
     group by busy_from, busy_until`,
    // A booking is at most 4 days long: so the index finds those that began before the span.
    [calendarId, new Date(span.from - 4 * 24 * 3600_000), new Date(span.until), new Date(span.from), now],
  );
}

/** The condition of a query for bookings that are this now, deadlines included. */
export function bookingsThatAre(status: BookingStatus, now: Date) {
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

/** Tells the hold's workflow, when the transaction commits, that the row has moved. */
export function tellHold(tx: EntityManager, clock: Clock, id: string): void {
  signalWorkflow(tx, clock, 'holdBooking', { bookingId: id }, 'moved');
}

export function sealReach(sealing: EncryptionKeys, bookingId: string, reach: Reach): Buffer {
  return encrypt(sealing, JSON.stringify(reach), contextOf.booking(bookingId));
}

/** How to reach the visitor of a booking whose money is not settled. */
export function reachOf({ sealing }: Pick<Config, 'sealing'>, id: string, sealed: Uint8Array): Reach {
  return JSON.parse(decrypt(sealing, sealed, contextOf.booking(id)).toString());
}

/**
 * Seats who has paid, and tells visitor and owner: a hold becomes a booking, and one that has run out too if there is room. False where there
 * is none, where it was cancelled, or where nobody knows any more how to reach the visitor. The calendar is locked.
 */
export async function seatPaid(
  tx: EntityManager,
  deps: { clock: Clock; config: Config },
  booking: WholeBooking,
): Promise<boolean> {
  const now = deps.clock.now();
  const status = bookingStatusAt(booking, now);
  const sealed = booking.visitorSealed;
  // Who cannot be told of a seat would not come.
  if (status !== 'held' && !(status === 'expired' && sealed && (await hasRoom(tx, now, booking)))) return false;
  Object.assign(booking, { status: 'confirmed', visitorSealed: null });
  const site = await tx.findOneOrFail(Site, booking.site.id);
  if (sealed) await tellOfBooking(tx, deps, { booking, site, reach: reachOf(deps.config, booking.id, sealed) });
  tellHold(tx, deps.clock, booking.id);
  await tx.flush();
  return true;
}

/** Whether the seats of a booking that ran out can be taken again: the site still takes bookings, and nobody else has them. */
async function hasRoom(tx: EntityManager, now: Date, booking: WholeBooking): Promise<boolean> {
  const { calendar, seats, busyFrom, busyUntil } = booking;
  const site = await tx.findOneOrFail(Site, booking.site.id, { refresh: true });
  if (isClosed(site) || calendar.archivedAt || booking.startsAt <= now) return false;
  await expireDueHolds(tx, now, { calendar: calendar.id });
  const span = { from: busyFrom.getTime(), until: busyUntil.getTime() };
  return peakOf(loadOf(await takenIn(tx, now, calendar.id, span)), span) + seats <= calendar.capacity;
}
