/** What a visitor can book: services, and days and times with free seats. */

import type { BookingCalendar } from '#db/bookings/bookable.ts';
import type { Booking } from '#db/bookings/booking.ts';
import { takenSeats } from '#db/bookings/seats.ts';
import type { FormField } from '#db/forms/form.ts';
import type { EntityManager } from '#db/orm.ts';
import { isClosed } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import { dateOf, dayOf } from '#rules/bookings/dates.ts';
import { busySpanOf, dayAt, offersOf, slotsOf } from '#rules/bookings/time-slots.ts';
import { localTime } from '#rules/bookings/time-zones.ts';
import type { Service } from '#rules/bookings/timetable.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { calendarOf, type DeclaredTimetable, declaredOf } from './timetable.ts';

const daysMax = 93;

/** The site behind a public id, whatever its state. Throws `not_found`. */
export async function siteOf(em: EntityManager, publicId: string): Promise<Site> {
  const site = await em.findOne(Site, { publicId });
  if (site) return site;
  throw errors.not_found('No website has this public id.');
}

/** The site's timetable. Throws `bookings_unavailable`. */
export async function openTimetable(em: EntityManager, site: Site): Promise<DeclaredTimetable> {
  const declared = isClosed(site) ? null : await declaredOf(em, site);
  if (declared) return declared;
  throw noBookings();
}

function noBookings(): AppError {
  return errors.bookings_unavailable('This website does not accept bookings.', {
    nextAction: 'Do not retry. Hide the booking form.',
  });
}

export type Choice = { service: Service<FormField>; calendar: BookingCalendar };

/**
 * The service and the calendar with these keys; a service with one calendar needs no calendar key. Throws
 * `invalid_service`, `invalid_calendar`.
 */
export function choose(
  { bookable, calendars }: DeclaredTimetable,
  keys: { service: string; calendar?: string | undefined },
): Choice {
  const service = bookable.services.find(({ key }) => key === keys.service);
  if (!service) {
    const names = bookable.services.map(({ key }) => key).join(', ');
    throw errors.invalid_service('This website has no service with this key.', {
      nextAction: `Use one of these keys: ${names}.`,
    });
  }
  const wanted = keys.calendar ?? (service.calendar_keys.length === 1 ? service.calendar_keys[0] : undefined);
  const calendar = calendars.find(({ key }) => key === wanted && service.calendar_keys.includes(key));
  if (!calendar) throw noCalendar('This service', service.calendar_keys);
  return { service, calendar };
}

/** The service and the calendar of a booking; undefined if visitors can no longer book them. */
export function choiceOf(
  { bookable, calendars }: DeclaredTimetable,
  { serviceKey, calendar: { key: wanted } }: { serviceKey: string; calendar: { key: string } },
): Choice | undefined {
  const service = bookable.services.find(({ key, calendar_keys: keys }) => key === serviceKey && keys.includes(wanted));
  const calendar = calendars.find(({ key }) => key === wanted);
  return service && calendar && { service, calendar };
}

/** The calendar with this key. Throws `invalid_calendar`. */
export function chooseCalendar({ calendars }: Pick<DeclaredTimetable, 'calendars'>, wanted: string): BookingCalendar {
  const calendar = calendars.find(({ key }) => key === wanted);
  if (calendar) return calendar;
  const keys = calendars.map(({ key }) => key);
  throw noCalendar('This site', keys);
}

const noCalendar = (what: string, keys: readonly string[]): AppError =>
  errors.invalid_calendar(`${what} has no calendar with this key.`, {
    nextAction: `Use one of these keys: ${keys.join(', ')}.`,
  });

/** `moving` is the booking that the times are for: its own seats are free, and its own time is no other one. */
export type Reading = { em: EntityManager; now: Date; moving?: Pick<Booking, 'id' | 'seats' | 'startsAt'> };

/** Days with enough free seats in a range, both ends included; by default a month from today in the calendar's time zone. */
export async function openDays(
  reading: Reading,
  { service, calendar }: Choice,
  range: { from?: string | undefined; to?: string | undefined },
): Promise<{ date: string; open_slots: number }[]> {
  const first = range.from === undefined ? dayAt(calendar.timeZone, reading.now.getTime()) : dayIn('from', range.from);
  const last = range.to === undefined ? first + 30 : dayIn('to', range.to);
  if (last < first || last - first >= daysMax) {
    throw errors.invalid_input(`The range must be 1 to ${daysMax} days long, and "to" must not be before "from".`);
  }
  const offers = await offersIn(reading, { service, calendar }, { first, last });
  const counts = new Map<number, number>();
  for (const { day } of offers) counts.set(day, (counts.get(day) ?? 0) + 1);
  return [...counts].map(([day, count]) => ({ date: dateOf(day), open_slots: count }));
}

/** Times of a date with enough free seats. */
export async function openSlots(
  reading: Reading,
  choice: Choice,
  date: string,
): Promise<{ time_zone: string; slots: { start: string; end: string; seats_left: number }[] }> {
  const day = dayIn('date', date);
  const offers = await offersIn(reading, choice, { first: day, last: day });
  const time_zone = choice.calendar.timeZone;
  return {
    time_zone,
    slots: offers.map(({ start, end, endOffset, offset, seatsLeft }) => ({
      start: localTime(start, offset),
      end: localTime(end, endOffset),
      seats_left: seatsLeft,
    })),
  };
}

/** The time slots of the days with enough free seats. */
async function offersIn({ em, now, moving }: Reading, choice: Choice, days: { first: number; last: number }) {
  const { service, calendar } = choice;
  const slots = slotsOf(service, calendarOf(calendar), days, now.getTime());
  const span = busySpanOf(service, slots);
  if (!span) return [];
  const taken = await takenSeats(em, now, calendar.id, span, moving?.id);
  return offersOf(service, calendar, slots, taken).filter(
    ({ start, seatsLeft }) => seatsLeft >= (moving?.seats ?? 1) && start !== moving?.startsAt.getTime(),
  );
}

function dayIn(name: string, text: string): number {
  const day = dayOf(text);
  if (day !== undefined) return day;
  throw errors.invalid_input(`The query parameter ${name} must be a date such as 2026-12-31.`);
}
