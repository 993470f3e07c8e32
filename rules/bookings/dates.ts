/** Dates without a time zone, as days since 1970-01-01; local moments in milliseconds of the wall clock. Pure. */

import { dayMs, minuteMs } from '#rules/time.ts';
import { type Weekday, weekdays } from './timetable.ts';

const written = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The day of `YYYY-MM-DD`; undefined for an invalid date such as 2026-02-30. */
export function dayOf(date: string): number | undefined {
  if (!written.test(date)) return undefined;
  const ms = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(ms) || dateOf(ms / dayMs) !== date ? undefined : ms / dayMs;
}

export function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

export function weekdayOf(day: number): Weekday {
  // 1970-01-01 was a Thursday.
  return weekdays[(((day + 3) % 7) + 7) % 7] as Weekday;
}

/** The Monday of the day's week. */
export const mondayOf = (day: number): number => day - weekdays.indexOf(weekdayOf(day));

/** Milliseconds since midnight of `HH:MM`; `24:00` is the end of the day. Undefined for an invalid time. */
export function timeOf(text: string): number | undefined {
  const [, hours, minutes] = /^(\d{2}):(\d{2})$/.exec(text) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  return Number(minutes) < 60 && total <= 24 * 60 ? total * minuteMs : undefined;
}
