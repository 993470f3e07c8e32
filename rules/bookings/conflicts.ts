/** Which bookings conflict with a timetable: it lacks their calendar, service, hours or seats. Pure. */

import { dayMs } from '#rules/time.ts';
import type { Timetable } from './faults.ts';
import { lastIndexUpTo, occupancyOf, peakOccupancy, type Taken } from './occupancy.ts';
import { covers, offsetPeriodsAround, openSpans, type Span, windowsOn } from './opening-hours.ts';
import { offsetAt } from './time-zones.ts';
import type { Calendar } from './timetable.ts';

/** `booked` is from start to end; the rest of the span is buffers. */
export type BookedSpan = Taken & { id: string; calendar: string; service: string; booked: Span };

/** The reason of each conflicting booking, by its id. */
export function conflictingBookings(
  { calendars, services }: Timetable,
  bookings: readonly BookedSpan[],
): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const [key, all] of Map.groupBy(bookings, ({ calendar }) => calendar)) {
    const calendar = calendars.find((one) => one.key === key);
    const reasonOf = calendar ? conflictFinder(calendar, all) : () => `there is no calendar ${key}`;
    for (const booking of all) {
      const service = services.find((one) => one.key === booking.service);
      const reason = service?.calendar_keys.includes(key)
        ? reasonOf(booking)
        : (calendar && `there is no service ${booking.service} in calendar ${key}`) || reasonOf(booking);
      if (reason !== undefined) reasons.set(booking.id, reason);
    }
  }
  return reasons;
}

function conflictFinder(calendar: Calendar, all: readonly BookedSpan[]): (booking: BookedSpan) => string | undefined {
  const open = openAround(calendar, all);
  const begins = open.map(({ from }) => from);
  const load = occupancyOf(all);
  return (booking) => {
    // The open spans are in order and apart: only the last that begins by then can cover the booking.
    const span = open[lastIndexUpTo(begins, booking.booked.from)];
    if (!span || !covers(span, booking.booked)) return `the calendar ${calendar.key} is closed at that time`;
    if (peakOccupancy(load, booking) > calendar.capacity) return `the calendar ${calendar.key} has too few seats left`;
    return undefined;
  };
}

/** No booking is longer than 4 days; an imported one that is counts as outside the hours. */
const longestDays = 6;

/** The open spans of the days on which there are bookings, which may be few of a long time. */
function openAround(calendar: Calendar, all: readonly BookedSpan[]): Span[] {
  const days = new Set<number>();
  for (const { booked } of all) {
    const [begins, ends] = [booked.from, booked.until].map((at) => offsetAt(calendar.time_zone, at)) as [
      number,
      number,
    ];
    // A clock that is set back at midnight returns to the day before.
    const more = begins === ends ? 0 : 1;
    const first = Math.floor((booked.from + begins) / dayMs);
    const last = Math.min(Math.floor((booked.until + ends) / dayMs), first + longestDays);
    for (let day = first - more; day <= last + more; day++) days.add(day);
  }
  const sorted = [...days].sort((a, b) => a - b);
  const stretches = offsetPeriodsAround(calendar.time_zone, sorted[0] as number, sorted.at(-1) as number);
  return openSpans(windowsOn(calendar, sorted), stretches);
}
