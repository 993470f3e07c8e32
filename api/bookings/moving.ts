/** Moves of bookings and blocks, by the site's people: to another time, calendar or number of seats. */
import { type Actor, requireChangeable } from '#api/access.ts';
import { Booking } from '#db/bookings/booking.ts';
import { queueMoveMails } from '#db/bookings/move-mails.ts';
import { lockCalendarOf } from '#db/bookings/seats.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { bookingStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { loadBooking, notLive } from './cancellation.ts';
import { lockSiteForShare } from './creation.ts';
import { lockBookingsOf, requireFewMoves } from './limits.ts';
import { chooseCalendar } from './offers.ts';
import { isOffered, type Place, placeColumns, placeOf, requirePossible, requireSeats } from './own-bookings.ts';
import { type ShownBooking, shown } from './schemas.ts';
import { type DeclaredTimetable, readBookable } from './timetable.ts';

export type Move = { start: Date; calendar?: string | undefined; seats?: number | undefined };
/** `isNotified`: whether the visitor gets an e-mail. `isMoved` is false where the booking already had this place. */
export type Moved = { booking: ShownBooking; isMoved: boolean; isNotified: boolean };

/**
 * Moves a live booking. Service, price, payment and reference stay as they are. A visitor's booking needs a start that
 * the timetable offers. Throws `not_cancellable`, `rate_limited`, `invalid_service`, `invalid_calendar`, `invalid_slot`,
 * `slot_taken`.
 */
export async function moveBooking(em: EntityManager, deps: Deps, actor: Actor, id: string, move: Move): Promise<Moved> {
  const found = await loadBooking(em, actor, id);
  return await em.transactional(async (tx) => {
    const site = await lockSiteForShare(tx, found.site.id);
    requireChangeable(site);
    const target = move.calendar === undefined ? [] : [await calendarIdOf(tx, actor, site.id, move.calendar)];
    await lockCalendarOf(tx, id, target);
    // Timetable and booking may have changed while this waited for the locks.
    tx.clear();
    const declared = await readBookable(tx, actor, site.id);
    const booking = await tx.findOneOrFail(Booking, { id }, shown);
    const now = deps.clock.now();
    requireMovable(booking, now);
    const place = placeAfter(declared, booking, move);
    if (isAt(booking, place)) return { booking, isMoved: false, isNotified: false };
    await lockBookingsOf(tx, site);
    await requireFewMoves(tx, deps, site);
    requirePossible(place, now);
    requireOffered(booking, place, { now, publicId: site.publicId });
    await requireSeats(tx, now, place, id);
    const before = { startsAt: booking.startsAt, timeZone: booking.calendar.timeZone };
    Object.assign(booking, placeColumns(place), { moves: booking.moves + 1, movedAt: now });
    const detail = { from: before.startsAt, to: booking.startsAt, calendar: place.calendar.key, seats: place.seats };
    recordAct(tx, deps.clock, actor, 'booking.moved', { site, subject: { id, name: booking.reference }, detail });
    const isNotified = await queueMoveMails(tx, deps, { booking, site, before });
    return { booking, isMoved: true, isNotified };
  });
}

async function calendarIdOf(tx: EntityManager, actor: Actor, siteId: string, key: string): Promise<string> {
  return chooseCalendar(await readBookable(tx, actor, siteId), key).id;
}

/** Throws `not_cancellable`. */
function requireMovable(booking: Booking, now: Date): void {
  const status = bookingStatusAt(booking, now);
  if (status === 'cancelled' || status === 'expired') throw notLive(status);
  if (booking.endsAt <= now) throw errors.not_cancellable('This booking has ended.');
}

function placeAfter(
  declared: DeclaredTimetable,
  { kind, calendar: { key, capacity }, startsAt, endsAt, serviceKey, seats }: ShownBooking,
  { start, calendar = key, seats: wanted }: Move,
): Place {
  if (kind === 'booking') {
    return placeOf(declared, { kind, calendar, start, service: serviceKey, seats: wanted ?? seats });
  }
  const end = new Date(start.getTime() + endsAt.getTime() - startsAt.getTime());
  // A block of the whole calendar remains one.
  return placeOf(declared, { kind, calendar, start, end, seats: wanted ?? (seats === capacity ? undefined : seats) });
}

const isAt = ({ calendar, startsAt, endsAt, seats }: ShownBooking, place: Place): boolean =>
  calendar.id === place.calendar.id &&
  startsAt.getTime() === place.booked.from &&
  endsAt.getTime() === place.booked.until &&
  seats === place.seats;

/** Throws `invalid_slot`. */
function requireOffered(
  { kind, createdById }: Booking,
  place: Place,
  { now, publicId }: { now: Date; publicId: string },
): void {
  if (kind === 'block' || createdById || isOffered(place, now)) return;
  throw errors.invalid_slot('This service is not offered at this time.', {
    nextAction: `Call GET /b/${publicId}/slots and choose another time.`,
  });
}
