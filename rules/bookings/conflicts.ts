/** Which bookings conflict with a timetable: it lacks their calendar, service, hours or seats. Pure. */

import type { Timetable } from './faults.ts';
import { occupancyOf, peakOccupancy, type Taken } from './occupancy.ts';
import { covers, offsetPeriodsAround, openSpans, type Span, windowsOf } from './opening-hours.ts';
import { dayAt } from './time-slots.ts';
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
  const first = dayAt(calendar.time_zone, Math.min(...all.map(({ booked }) => booked.from)));
  const last = dayAt(calendar.time_zone, Math.max(...all.map(({ booked }) => booked.until)));
  const open = openSpans(windowsOf(calendar, first, last), offsetPeriodsAround(calendar.time_zone, first, last));
  const load = occupancyOf(all);
  return (booking) => {
    if (!open.some((span) => covers(span, booking.booked)))
      return `the calendar ${calendar.key} is closed at that time`;
    if (peakOccupancy(load, booking) > calendar.capacity) return `the calendar ${calendar.key} has too few seats left`;
    return undefined;
  };
}
