/**
 * The time slots of a service, for the lists of days and slots and for new bookings. A start is a local time, counted
 * in steps from the opening of a window; the calendar is open from start to end. A local time skipped by a clock
 * change is no start; a repeated one is two, with different UTC offsets. Pure.
 */

import { dayMs, minuteMs } from '#rules/time.ts';
import { occupancyOf, peakOccupancy, type Taken } from './occupancy.ts';
import { covers, momentsOf, offsetIn, offsetPeriodsAround, openSpans, type Span, windowsOf } from './opening-hours.ts';
import { offsetAt } from './time-zones.ts';
import type { Calendar, Offering } from './timetable.ts';

/** A time that the timetable offers. Moments and UTC offsets in milliseconds. */
export type TimeSlot = { day: number; start: number; end: number; offset: number; endOffset: number };
/** `seatsLeft` may be negative where the capacity was reduced. */
export type Offer = TimeSlot & { seatsLeft: number };

export type Days = { first: number; last: number };

/** The slots with their free seats. `taken` are the bookings in the span of the slots. */
export function offersOf(
  service: Offering,
  { capacity }: Pick<Calendar, 'capacity'>,
  slots: readonly TimeSlot[],
  taken: readonly Taken[],
): Offer[] {
  const load = occupancyOf(taken);
  const { busy } = spansOf(service);
  return slots.map((one) => ({ ...one, seatsLeft: capacity - peakOccupancy(load, busy(one.start)) }));
}

/** The span of bookings that can affect the slots, which are in order; undefined without slots. */
export function busySpanOf(service: Offering, slots: readonly TimeSlot[]): Span | undefined {
  const [first, last] = [slots[0], slots.at(-1)];
  const { busy } = spansOf(service);
  return first && last && { from: busy(first.start).from, until: busy(last.start).until };
}

/** The slot that starts at this moment, if the timetable offers one. */
export function slotAt(
  service: Offering,
  calendar: Omit<Calendar, 'key' | 'name'>,
  start: number,
  now: number,
): TimeSlot | undefined {
  const day = dayAt(calendar.time_zone, start);
  return slotsOf(service, calendar, { first: day, last: day }, now).find((slot) => slot.start === start);
}

/** How long a booking of the service lasts, and how long it occupies its seats, buffers included. */
export function spansOf(service: Offering): { booked(start: number): Span; busy(start: number): Span } {
  const durationMs = service.duration_minutes * minuteMs;
  const beforeMs = service.buffer_before_minutes * minuteMs;
  const afterMs = service.buffer_after_minutes * minuteMs;
  return {
    booked: (start) => ({ from: start, until: start + durationMs }),
    busy: (start) => ({ from: start - beforeMs, until: start + durationMs + afterMs }),
  };
}

/** The bookable days of a range, from today to the horizon; undefined where there are none. */
function bookableDays(
  service: Offering,
  { time_zone }: Pick<Calendar, 'time_zone'>,
  days: Days,
  now: number,
): Days | undefined {
  const today = dayAt(time_zone, now);
  const [first, last] = [Math.max(days.first, today), Math.min(days.last, today + service.horizon_days)];
  return first <= last ? { first, last } : undefined;
}

/** The local date of a moment. */
export function dayAt(zone: string, moment: number): number {
  return Math.floor((moment + offsetAt(zone, moment)) / dayMs);
}

/** The slots that start on the days, in order. `now` in milliseconds. */
export function slotsOf(
  service: Offering,
  calendar: Omit<Calendar, 'key' | 'name'>,
  days: Days,
  now: number,
): TimeSlot[] {
  const earliest = now + service.lead_minutes * minuteMs;
  const near = bookableDays(service, calendar, days, now);
  if (!near) return [];
  const stretches = offsetPeriodsAround(calendar.time_zone, near.first, near.last);
  // A slot of the last day may end one or two days later, where a zone skips a day. One just after midnight may begin
  // on the day before, where the clock is set back.
  const windows = windowsOf(calendar, near.first - 1, near.last + 2);
  const open = openSpans(windows, stretches);
  const stepMs = service.step_minutes * minuteMs;
  const durationMs = service.duration_minutes * minuteMs;
  const starts: TimeSlot[] = [];
  for (const { day, from, until } of windows) {
    if (day < near.first || day > near.last) continue;
    for (let local = from; local < until; local += stepMs) {
      for (const start of momentsOf(local, stretches)) {
        if (start >= earliest) {
          const end = start + durationMs;
          starts.push({ day, start, end, offset: local - start, endOffset: offsetIn(stretches, end) });
        }
      }
    }
  }
  starts.sort((a, b) => a.start - b.start);
  let at = 0;
  return starts.filter(({ start, end }) => {
    while (at < open.length && (open[at] as Span).until < end) at++;
    const span = open[at];
    return span !== undefined && covers(span, { from: start, until: end });
  });
}
