/**
 * When a calendar is open: at every moment whose local time is within the hours of its date. An hour skipped by a
 * clock change does not exist; a repeated one exists twice. Pure.
 */

import { dayMs } from '#rules/time.ts';
import { dayOf, timeOf, weekdayOf } from './dates.ts';
import { type OffsetPeriod, offsetPeriods } from './time-zones.ts';
import { type DateException, type Opening, type Window, weekdays } from './timetable.ts';

/** From `from` (included) to `until` (excluded), in milliseconds. */
export type Span = { from: number; until: number };

/** A window of one date, on the local clock. */
export type LocalWindow = Span & { day: number };

/** Offset periods around days, wide enough for any local time on them. */
export function offsetPeriodsAround(zone: string, firstDay: number, lastDay: number): OffsetPeriod[] {
  return offsetPeriods(zone, (firstDay - 2) * dayMs, (lastDay + 3) * dayMs);
}

/** The days of an exception; undefined where its dates are not valid. */
export function exceptionDays({ date, from, to }: DateException): { first: number; last: number } | undefined {
  const [first, last] = [dayOf(from ?? date ?? ''), dayOf(to ?? date ?? '')];
  return first === undefined || last === undefined ? undefined : { first, last };
}

/** The windows of the days from the first to the last. */
export function windowsOf(opening: Opening, firstDay: number, lastDay: number): LocalWindow[] {
  return windowsOn(
    opening,
    Array.from({ length: lastDay - firstDay + 1 }, (_, at) => firstDay + at),
  );
}

/** The windows of the days, which are in order. */
export function windowsOn({ hours, exceptions }: Opening, days: readonly number[]): LocalWindow[] {
  const special = new Map<number, Span[]>();
  for (const exception of exceptions) {
    const { first = 0, last = -1 } = exceptionDays(exception) ?? {};
    const spans = exception.hours.map(timesOf);
    for (let day = Math.max(first, days[0] ?? 0); day <= Math.min(last, days.at(-1) ?? -1); day++) {
      special.set(day, spans);
    }
  }
  const weekly = new Map(weekdays.map((name) => [name, hours.filter((one) => one.days.includes(name)).map(timesOf)]));
  return days.flatMap((day) =>
    (special.get(day) ?? weekly.get(weekdayOf(day)) ?? []).map(({ from, until }) => {
      return { day, from: day * dayMs + from, until: day * dayMs + until };
    }),
  );
}

/** The window since midnight, in milliseconds. */
const timesOf = ({ from, to }: Window): Span => ({ from: timeOf(from) ?? 0, until: timeOf(to) ?? 0 });

/** The moments with this local time: none, one or two. */
export function momentsOf(local: number, stretches: readonly OffsetPeriod[]): number[] {
  const moments: number[] = [];
  for (const { from, until, offset } of stretches) {
    const at = local - offset;
    if (from <= at && at < until) moments.push(at);
  }
  return moments;
}

/** The windows as spans of moments, in order; adjacent ones are merged. */
export function openSpans(windows: readonly LocalWindow[], stretches: readonly OffsetPeriod[]): Span[] {
  const pieces: Span[] = [];
  for (const window of windows) {
    for (const { from, until, offset } of stretches) {
      const piece = { from: Math.max(from, window.from - offset), until: Math.min(until, window.until - offset) };
      if (piece.from < piece.until) pieces.push(piece);
    }
  }
  pieces.sort((a, b) => a.from - b.from);
  const spans: Span[] = [];
  for (const piece of pieces) {
    const last = spans.at(-1);
    if (last && piece.from <= last.until) last.until = Math.max(last.until, piece.until);
    else spans.push(piece);
  }
  return spans;
}

/** Whether the open span contains the whole span. */
export function covers(open: Span, span: Span): boolean {
  return open.from <= span.from && span.until <= open.until;
}

/** The UTC offset at a moment that the periods cover. */
export function offsetIn(stretches: readonly OffsetPeriod[], at: number): number {
  return (stretches.find(({ until }) => at < until) ?? (stretches.at(-1) as OffsetPeriod)).offset;
}
