/** Moves of bookings and blocks: by the site's people, or by the visitor with the link in the e-mail. */

import { type Actor, requireChangeable } from '#api/access.ts';
import { Booking } from '#db/bookings/booking.ts';
import { queueMoveMails } from '#db/bookings/move-mails.ts';
import { lockCalendarOf } from '#db/bookings/seats.ts';
import { recordAct } from '#db/history/recording.ts';
import { notifyInbox } from '#db/inbox/news.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSiteForShare } from '#db/sites/transitions.ts';
import { call } from '#rules/calls/calls.ts';
import { bookingStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { notLive } from './cancellation.ts';
import { lockBookingsOf, requireFewMoves, requireMovedSeldom } from './limits.ts';
import { chooseCalendar, openTimetable } from './offers.ts';
import {
  isOffered,
  isOfferedNow,
  type Place,
  placeColumns,
  placeOf,
  requirePossible,
  requireSeats,
} from './own-bookings.ts';
import { type ShownBooking, shown } from './schemas.ts';
import { type DeclaredTimetable, readBookable } from './timetable.ts';

export type Move = { start: Date; calendar?: string | undefined; seats?: number | undefined };
type By = Actor | 'visitor';

/**
 * Moves a live booking; one that already has this place stays as it is. Service, price, payment and reference stay as they
 * are. A visitor's booking needs a start that the timetable offers; to the visitor it is offered within its lead time and
 * horizon. Throws `not_cancellable`, `rate_limited`, `invalid_service`, `invalid_calendar`, `invalid_slot`, `slot_taken`;
 * to the visitor also `bookings_unavailable`.
 */
export async function moveBooking(
  deps: Deps,
  by: By,
  { id, site: { id: siteId } }: Pick<ShownBooking, 'id' | 'site'>,
  move: Move,
): Promise<ShownBooking> {
  // Not the caller's `em`: `tx.clear()` would leave its booking with the old calendar, which a flush would write.
  return await deps.em().transactional(async (tx) => {
    const site = await lockSiteForShare(tx, siteId);
    if (by !== 'visitor') requireChangeable(site);
    const read = () => (by === 'visitor' ? openTimetable(tx, site) : readBookable(tx, by, siteId));
    const target = move.calendar === undefined ? [] : [chooseCalendar(await read(), move.calendar).id];
    await lockCalendarOf(tx, id, target);
    // Timetable and booking may have changed while this waited for the locks.
    tx.clear();
    const declared = await read();
    const booking = await tx.findOneOrFail(Booking, { id }, shown);
    const now = deps.clock.now();
    requireMovable(booking, by, now);
    const place = placeAfter(declared, booking, move);
    if (isAt(booking, place)) return booking;
    await lockBookingsOf(tx, site);
    if (by === 'visitor') requireMovedSeldom(booking);
    else await requireFewMoves(tx, deps, site);
    requirePossible(place, now);
    requireOffered(booking, place, { by, now, publicId: site.publicId });
    await requireSeats(tx, now, place, id);
    await applyMove(tx, deps, { booking, site, by }, place);
    return booking;
  });
}

async function applyMove(
  tx: EntityManager,
  deps: Deps,
  { booking, site, by }: { booking: ShownBooking; site: Site; by: By },
  place: Place,
): Promise<void> {
  const before = { startsAt: booking.startsAt, timeZone: booking.calendar.timeZone };
  const moved = { moves: booking.moves + 1, movedAt: deps.clock.now() };
  const mover =
    by === 'visitor' ? { movedById: null, visitorMoves: booking.visitorMoves + 1 } : { movedById: by.accountId };
  Object.assign(booking, placeColumns(place), moved, mover);
  if (by !== 'visitor') {
    const { kind } = booking;
    const detail = {
      kind,
      from: before.startsAt,
      to: booking.startsAt,
      calendar: place.calendar.key,
      seats: place.seats,
    };
    const subject = { id: booking.id, name: booking.reference };
    recordAct(tx, deps.clock, by, 'booking.moved', { site, subject, detail });
  }
  await queueMoveMails(tx, deps, { booking, site, before, by: by === 'visitor' ? by : 'site' });
  await notifyInbox(tx, site.id);
}

/** Throws `not_cancellable`. */
function requireMovable(booking: Booking, by: By, now: Date): void {
  const status = bookingStatusAt(booking, now);
  if (status === 'cancelled' || status === 'expired') throw notLive(status);
  if (booking.endsAt <= now) throw errors.not_cancellable('This booking has ended.');
  if (by !== 'visitor') return;
  if (status === 'held') throw errors.not_cancellable('This booking is not paid for yet.');
  if (booking.startsAt <= now) throw errors.not_cancellable('This booking has started.');
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
  { by, now, publicId }: { by: By; now: Date; publicId: string },
): void {
  if (by === 'visitor' ? isOfferedNow(place, now) : kind === 'block' || createdById || isOffered(place, now)) return;
  throw errors.invalid_slot('This service is not offered at this time.', {
    nextAction: `Call ${call('offer.slots', { public_id: publicId })} and choose another time.`,
  });
}
