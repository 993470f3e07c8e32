/** Bookings and blocks that a site's people make themselves: like visitors' they never oversell, but need no slot. */

import { randomBytes } from 'node:crypto';
import { type Actor, loadSite, requireChangeable } from '#api/access.ts';
import { hashSecret } from '#api/secrets.ts';
import type { BookingCalendar } from '#db/bookings/bookable.ts';
import { Booking, type BookingKind } from '#db/bookings/booking.ts';
import { queueBookingMails } from '#db/bookings/mails.ts';
import { countFreeSeats, lockCalendars } from '#db/bookings/seats.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { lockSiteForShare } from '#db/sites/transitions.ts';
import { farthestDays, longestMs } from '#rules/bookings/bounds.ts';
import type { Span } from '#rules/bookings/opening-hours.ts';
import { slotAt, spansOf } from '#rules/bookings/time-slots.ts';
import { call } from '#rules/calls/calls.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newReference } from '#runtime/ids.ts';
import { visitorHash } from './creation.ts';
import { lockBookingsOf } from './limits.ts';
import { type Choice, choose, chooseCalendar } from './offers.ts';
import type { ShownBooking } from './schemas.ts';
import { calendarOf, type DeclaredTimetable, readBookable } from './timetable.ts';
import { type OwnVisitor, readOwnVisitor } from './visitors.ts';

/** Of one site, made by its people, that have not ended. */
const ownMax = 5_000;

export type OwnBooking = {
  kind: BookingKind;
  calendar: string;
  start: Date;
  end?: Date | undefined;
  service?: string | undefined;
  seats?: number | undefined;
  visitor?: OwnVisitor | undefined;
};

/** What a booking takes: its calendar, times and seats. `service` is null for a block. */
export type Place = {
  calendar: BookingCalendar;
  service: Choice['service'] | null;
  booked: Span;
  busy: Span;
  seats: number;
};

/**
 * Adds a booking, or blocks time, for the site's people. Throws `invalid_json`, `invalid_service`, `invalid_calendar`,
 * `invalid_slot`, `invalid_visitor`, `slot_taken`, `plan_limit`.
 */
export async function createOwnBooking(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  { id, cancelSecret, ...input }: OwnBooking & { id: string; cancelSecret: string },
): Promise<ShownBooking> {
  return await em.transactional(async (tx) => {
    requireChangeable(await loadSite(tx, actor, siteId));
    const site = await lockSiteForShare(tx, siteId);
    requireChangeable(site);
    const known = placeOf(await readBookable(tx, actor, siteId), input);
    const visitor = input.visitor && readOwnVisitor(input.visitor, Boolean(deps.config.mail));
    await lockCalendars(tx, [known.calendar.id]);
    // The timetable may have changed while this waited for the lock.
    tx.clear();
    const place = placeOf(await readBookable(tx, actor, siteId), input);
    const now = deps.clock.now();
    requirePossible(place, now);
    await requireSeats(tx, now, place);
    await lockBookingsOf(tx, site);
    await requireFewOwn(tx, now, site);
    const booking = tx.create(Booking, {
      id,
      site: tx.getReference(Site, site.id),
      kind: input.kind,
      createdById: actor.accountId,
      reference: newReference(),
      status: 'confirmed',
      serviceKey: place.service?.key ?? '',
      serviceName: place.service?.name ?? '',
      place: place.service?.place ?? null,
      link: place.service?.link ?? null,
      ...placeColumns(place),
      visitorName: visitor?.name ?? '',
      // Without an address the hash is random, and matches no visitor.
      visitorHash: visitor?.email ? visitorHash(deps.config.secret, visitor.email) : randomBytes(32),
      intake: [],
      cancelHash: hashSecret(cancelSecret),
      createdAt: now,
    }) as ShownBooking;
    const detail = { kind: input.kind, calendar: place.calendar.key, start: input.start };
    recordAct(tx, deps.clock, actor, 'booking.created', { site, subject: { id, name: booking.reference }, detail });
    const contact = visitor?.email && { ...visitor.wishes, email: visitor.email, cancelSecret };
    if (contact) await queueBookingMails(tx, deps, { booking, site, contact });
    return booking;
  });
}

/** The place that the input asks for in the timetable. */
export function placeOf(
  declared: DeclaredTimetable,
  { kind, calendar: key, start, end, service: serviceKey, seats, visitor }: OwnBooking,
): Place {
  if (kind === 'block') {
    const unused = [
      ['service', serviceKey],
      ['visitor', visitor],
    ].find(([, value]) => value !== undefined);
    if (unused) throw errors.invalid_json(`A block has no ${unused[0]}. To book for a person, send "kind": "booking".`);
    if (!end) throw errors.invalid_slot('A block needs an end.', { nextAction: 'Send end, an RFC 3339 time.' });
    const calendar = chooseCalendar(declared, key);
    const booked = { from: start.getTime(), until: end.getTime() };
    return { calendar, service: null, booked, busy: booked, seats: seats ?? calendar.capacity };
  }
  if (end) throw errors.invalid_json('The service’s duration sets the end of a booking. Send end only for a block.');
  if (serviceKey === undefined) {
    const names = declared.bookable.services.map((service) => service.key).join(', ');
    throw errors.invalid_service('A booking needs a service.', { nextAction: `Use one of these keys: ${names}.` });
  }
  const { service, calendar } = choose(declared, { service: serviceKey, calendar: key });
  const spans = spansOf(service);
  const from = start.getTime();
  return { calendar, service, booked: spans.booked(from), busy: spans.busy(from), seats: seats ?? 1 };
}

/** Throws `invalid_slot` for a time that no calendar can have. */
export function requirePossible({ service, booked }: Place, now: Date): void {
  const refuse = (message: string, options?: { nextAction: string }) => errors.invalid_slot(message, options);
  if (booked.until <= booked.from) throw refuse('The end must be after the start.');
  if (booked.until - booked.from > longestMs) {
    throw refuse('A block lasts at most 4 days.', {
      nextAction:
        'For a longer time, such as a holiday, add an exception with from, to and no hours to the calendar, and send the timetable again.',
    });
  }
  const at = service ? booked.from : booked.until;
  if (at <= now.getTime()) throw refuse('This time is in the past.');
  if (booked.from > now.getTime() + farthestDays * dayMs) {
    throw refuse(`This time is more than ${farthestDays} days ahead.`);
  }
}

/** Throws `slot_taken` if the calendar, which is locked, has too few free seats. `except` is the booking that moves. */
export async function requireSeats(
  tx: EntityManager,
  now: Date,
  { calendar, busy, seats }: Place,
  except?: string,
): Promise<void> {
  const left = await countFreeSeats(tx, now, calendar, busy, except);
  if (seats <= left) return;
  throw errors.slot_taken(
    left === 0
      ? 'This time is already fully booked.'
      : `Only ${left} of ${calendar.capacity} seats are free at this time.`,
    {
      nextAction: `Call ${call('booking.list', { id: calendar.site })} to see what is booked, and choose another time.`,
    },
  );
}

/** Whether visitors could book this time too, whatever the lead time and how far ahead it is. */
export function isOffered({ service, calendar, booked }: Place, now: Date): boolean {
  if (!service) return true;
  const anyTime = { ...service, lead_minutes: 0, horizon_days: farthestDays + 1 };
  return slotAt(anyTime, calendarOf(calendar), booked.from, now.getTime()) !== undefined;
}

/** Whether a visitor could book this time now. */
export const isOfferedNow = ({ service, calendar, booked }: Place, now: Date): boolean =>
  service !== null && slotAt(service, calendarOf(calendar), booked.from, now.getTime()) !== undefined;

export function placeColumns({ calendar, booked, busy, seats }: Place) {
  return {
    calendar,
    startsAt: new Date(booked.from),
    endsAt: new Date(booked.until),
    busyFrom: new Date(busy.from),
    busyUntil: new Date(busy.until),
    seats,
  };
}

/** Throws `plan_limit`. The bookings of the site are locked. */
async function requireFewOwn(tx: EntityManager, now: Date, site: Site): Promise<void> {
  const own = { site: site.id, status: 'confirmed', endsAt: { $gt: now }, createdById: { $ne: null } } as const;
  if ((await tx.count(Booking, own)) < ownMax) return;
  throw errors.plan_limit(
    `This site already has ${ownMax} bookings and blocks of its own people that have not ended.`,
    {
      nextAction: 'Cancel those that are no longer needed, or declare closed days as exceptions of the calendar.',
    },
  );
}
