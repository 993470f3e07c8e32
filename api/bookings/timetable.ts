/** The timetable of a site: declared as a whole, read, ended. */

import { type Actor, loadSite, lockChangeable, requireChangeable } from '#api/access.ts';
import { readNotifyTo, readReplyTo } from '#api/notify-to.ts';
import { Bookable, BookingCalendar } from '#db/bookings/bookable.ts';
import { Booking } from '#db/bookings/booking.ts';
import { liveBookings, lockCalendars, resizeBlocks } from '#db/bookings/seats.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { type BookedSpan, conflictingBookings } from '#rules/bookings/conflicts.ts';
import { faultOf, type Timetable } from '#rules/bookings/faults.ts';
import { type Money, totalOf } from '#rules/bookings/prices.ts';
import { momentIn } from '#rules/bookings/written-times.ts';
import { call } from '#rules/calls/calls.ts';
import { counted } from '#rules/counted.ts';
import { amountFault } from '#rules/currencies.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { type BookableChange, type BookableInput, timetableOf } from './schemas.ts';

export type DeclaredTimetable = { site: Site; bookable: Bookable; calendars: BookingCalendar[] };

/**
 * Replaces the timetable. Bookings stay as they are, even if their calendar is gone. Throws `invalid_timetable`,
 * `confirm_required` where live bookings conflict with it, and the errors of `readNotifyTo`.
 */
export async function declareBookable(
  em: EntityManager,
  { clock }: Deps,
  actor: Actor,
  siteId: string,
  input: BookableInput,
): Promise<DeclaredTimetable> {
  const timetable = timetableOf(input);
  return await em.transactional(async (tx) => {
    requireChangeable(await loadSite(tx, actor, siteId));
    const fault = faultOf(timetable) ?? priceFault(timetable);
    if (fault) throw errors.invalid_timetable(`The timetable is not valid: ${fault.where}: ${fault.what}.`);
    const site = await lockChangeable(tx, siteId);
    const known = await tx.find(BookingCalendar, { site });
    await lockCalendars(
      tx,
      known.map(({ id }) => id),
    );
    const before = await tx.findOne(Bookable, { site });
    if (before && !input.confirm) await requireNoLoss(tx, clock.now(), { site, before, known, timetable });
    const notifyTo = input.notify_to;
    const notify = notifyTo === undefined ? undefined : await readNotifyTo(tx, site, notifyTo);
    const replies = await readReplies(tx, site, input.reply_to);
    const now = clock.now();
    const bookable = before ?? tx.create(Bookable, { site, services: [], declaredAt: now });
    bookable.services = timetable.services;
    if (notify !== undefined) bookable.notifyCollaboratorId = notify;
    if (input.fallback !== undefined) bookable.fallback = input.fallback;
    bookable.declaredAt = now;
    bookable.endedAt = null;
    Object.assign(bookable, replies);
    const detail = { calendars: timetable.calendars.length, services: timetable.services.length };
    recordAct(tx, clock, actor, 'timetable.replaced', { site, detail });
    const capacities = new Map(known.map(({ id, capacity }) => [id, capacity]));
    const calendars = keepCalendars(tx, { site, known, timetable, now });
    await tx.flush();
    for (const { id, capacity } of calendars) await resizeBlocks(tx, now, { id, capacity, before: capacities.get(id) });
    return { site, bookable, calendars };
  });
}

/** Changes what is not part of the timetable. Throws `not_found` where there is none, and as `readNotifyTo` does. */
export async function updateBookable(
  em: EntityManager,
  { clock }: Deps,
  actor: Actor,
  siteId: string,
  change: BookableChange,
): Promise<DeclaredTimetable> {
  return await em.transactional(async (tx) => {
    requireChangeable(await loadSite(tx, actor, siteId));
    const site = await lockChangeable(tx, siteId);
    const declared = await readBookable(tx, actor, siteId);
    const { bookable } = declared;
    const { notify_to: notifyTo, reply_to: replyTo, fallback } = change;
    if (notifyTo !== undefined) bookable.notifyCollaboratorId = await readNotifyTo(tx, site, notifyTo);
    if (fallback !== undefined) bookable.fallback = fallback;
    Object.assign(bookable, await readReplies(tx, site, replyTo));
    const detail = { changed: Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name])) };
    recordAct(tx, clock, actor, 'timetable.updated', { site, detail });
    return declared;
  });
}

/** The column of the address; none if it stays as it is. */
async function readReplies(
  tx: EntityManager,
  site: Site,
  replyTo: string | null | undefined,
): Promise<Pick<Partial<Bookable>, 'replyToId'>> {
  if (replyTo === undefined) return {};
  return { replyToId: replyTo === null ? null : await readReplyTo(tx, site, replyTo) };
}

/** A price that cannot be charged to a card. */
function priceFault({ services }: Timetable): { where: string; what: string } | undefined {
  for (const [at, { price, seats_max }] of services.entries()) {
    const dearest = price && totalOf(price, seats_max);
    const what = dearest ? (amountFault(price) ?? mostFault(dearest, seats_max)) : undefined;
    if (what !== undefined) return { where: `services.${at}.price`, what };
  }
  return undefined;
}

/** A booking of the most seats that cannot be charged to a card. */
function mostFault(dearest: Money, seats: number): string | undefined {
  const what = amountFault(dearest);
  return what && `a booking of ${seats} seats costs too much: ${what}`;
}

/** The site's timetable. Throws `not_found` where there is none. */
export async function readBookable(em: EntityManager, actor: Actor, siteId: string): Promise<DeclaredTimetable> {
  const site = await loadSite(em, actor, siteId);
  const declared = await declaredOf(em, site);
  if (declared) return declared;
  throw errors.not_found('This site does not accept bookings.', {
    nextAction: `Set its calendars and services with ${call('bookable.declare', { id: site })}.`,
  });
}

/** Null where the site accepts no bookings. */
export async function declaredOf(em: EntityManager, site: Site): Promise<DeclaredTimetable | null> {
  const bookable = await em.findOne(Bookable, { site, endedAt: null });
  if (!bookable) return null;
  const calendars = await em.find(BookingCalendar, { site, archivedAt: null }, { orderBy: { position: 'asc' } });
  return { site, bookable, calendars };
}

/** Stops accepting bookings. Existing bookings stay valid; calendars are archived. Throws `confirm_required`. */
export async function endBookable(
  em: EntityManager,
  { clock }: Deps,
  actor: Actor,
  siteId: string,
  { confirmed }: { confirmed: boolean },
): Promise<DeclaredTimetable> {
  return await em.transactional(async (tx) => {
    await loadSite(tx, actor, siteId);
    await lockChangeable(tx, siteId);
    const declared = await readBookable(tx, actor, siteId);
    await lockCalendars(
      tx,
      declared.calendars.map(({ id }) => id),
    );
    const live = await tx.count(Booking, { site: siteId, kind: 'booking', ...liveBookings(clock.now()) });
    if (!confirmed) {
      throw errors.confirm_required(
        `The site would no longer accept bookings: ${counted(declared.calendars.length, 'calendar')} would be archived. ${counted(live, 'active booking')} would stay valid.`,
        { nextAction: `Ask the owner to confirm, then call ${call('bookable.end', { id: siteId, confirm: true })}.` },
      );
    }
    declared.bookable.endedAt = clock.now();
    for (const calendar of declared.calendars) calendar.archivedAt = clock.now();
    recordAct(tx, clock, actor, 'timetable.removed', { site: declared.site });
    return declared;
  });
}

function keepCalendars(
  tx: EntityManager,
  { site, known, timetable, now }: { site: Site; known: BookingCalendar[]; timetable: Timetable; now: Date },
): BookingCalendar[] {
  const kept = timetable.calendars.map((input, position) => {
    const { key, name, capacity, hours, exceptions, place = null, link = null } = input;
    const where = { timeZone: input.time_zone, place, link };
    const values = { name, capacity, hours, exceptions, position, ...where, archivedAt: null };
    const calendar = known.find((one) => one.key === key);
    return calendar
      ? tx.assign(calendar, values)
      : tx.create(BookingCalendar, { ...values, id: newId('cal'), site, key, createdAt: now });
  });
  for (const calendar of known) if (!kept.includes(calendar)) calendar.archivedAt ??= now;
  return kept;
}

type Change = { site: Site; before: Bookable; known: BookingCalendar[]; timetable: Timetable };

/** Bookings that already conflict with the current timetable need no new confirmation. */
async function requireNoLoss(tx: EntityManager, now: Date, { site, before, known, timetable }: Change): Promise<void> {
  const live = await tx.find(Booking, { site, ...liveBookings(now) });
  const conflictsWith = ({ calendars, services }: Timetable) => {
    const stand = live.map((booking): BookedSpan => {
      const { id, kind, serviceKey: service } = booking;
      const calendar = known.find((one) => one.id === booking.calendar.id)?.key ?? '';
      const capacity = calendars.find((one) => one.key === calendar)?.capacity ?? 0;
      const seats = kind === 'block' ? Math.min(booking.seats, capacity) : booking.seats;
      const booked = { from: booking.startsAt.getTime(), until: booking.endsAt.getTime() };
      const taken = { from: booking.busyFrom.getTime(), until: booking.busyUntil.getTime(), seats };
      return { id, calendar, service, booked, ...taken };
    });
    return conflictingBookings({ calendars, services }, stand);
  };
  const active = known.filter(({ archivedAt }) => !archivedAt);
  const groundless = conflictsWith({ calendars: active.map(calendarOf), services: before.services });
  // A block loses nothing: it takes the seats that are left, or is not needed.
  for (const { id, kind } of live) if (kind === 'block') groundless.set(id, kind);
  const losing = [...conflictsWith(timetable)].filter(([id]) => !groundless.has(id));
  if (losing.length === 0) return;
  const reasons = Map.groupBy(losing, ([, reason]) => reason);
  const counts = [...reasons].map(([reason, all]) => `${all.length}: ${reason}`).slice(0, 5);
  const ids = new Set(losing.map(([id]) => id));
  const named = nameFirst(
    live.filter(({ id }) => ids.has(id)),
    known,
  );
  throw errors.confirm_required(
    `${counted(losing.length, 'active booking')} ${losing.length === 1 ? 'conflicts' : 'conflict'} with this timetable (${counts.join('; ')}): ${named}. Saving it would not cancel any bookings.`,
    {
      nextAction:
        'Ask the owner to confirm, then send the timetable again with "confirm": true, and cancel the bookings that cannot take place.',
    },
  );
}

const namedMax = 3;

/** The first of the bookings, so that they are found. */
function nameFirst(bookings: readonly Booking[], calendars: readonly BookingCalendar[]): string {
  const sorted = bookings.toSorted((one, other) => one.startsAt.getTime() - other.startsAt.getTime());
  const named = sorted.slice(0, namedMax).map(({ id, reference, startsAt, calendar }) => {
    const zone = calendars.find((one) => one.id === calendar.id)?.timeZone ?? 'UTC';
    return `${momentIn(startsAt.toISOString(), zone)}, reference ${reference} (${id})`;
  });
  const more = bookings.length - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** A calendar in the form of a timetable. */
export function calendarOf({ key, name, capacity, timeZone, hours, exceptions, place, link }: BookingCalendar) {
  return { key, name, capacity, time_zone: timeZone, place: place ?? null, link: link ?? null, hours, exceptions };
}

/** A service as responses show it: one of an earlier release has neither a place nor a link. */
export function serviceOf<Any extends Bookable['services'][number]>(service: Any) {
  return { ...service, place: service.place ?? null, link: service.link ?? null };
}
