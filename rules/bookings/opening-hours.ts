/**
 * When a calendar is open: at every moment whose local time is within the hours of its date. An hour skipped by a
 * clock change does not exist; a repeated one exists twice. Pure.
 */

import { dayMs } from '#rules/time.ts';
import { dateOf, timeOf, weekdayOf } from './dates.ts';
import { type OffsetPeriod, offsetPeriods } from './time-zones.ts';
import type { Opening } from './timetable.ts';

/** From `from` (included) to `until` (excluded), in milliseconds. */
export type Span = { from: number; until: number };

/** A window of one date, on the local clock. */
export type LocalWindow = Span & { day: number };

/** Offset periods around days, wide enough for any local time on them. */
export function offsetPeriodsAround(zone: string, firstDay: number, lastDay: number): OffsetPeriod[] {
  return offsetPeriods(zone, (firstDay - 2) * dayMs, (lastDay + 3) * dayMs);
}

/** The windows of the days. */
export function windowsOf({ hours, exceptions }: Opening, firstDay: number, lastDay: number): LocalWindow[] {
  const special = new Map(exceptions.map((one) => [one.date, one.hours]));
  const windows: LocalWindow[] = [];
  for (let day = firstDay; day <= lastDay; day++) {
    const weekday = weekdayOf(day);
    const ofDay = special.get(dateOf(day)) ?? hours.filter(({ days }) => days.includes(weekday));
    for (const { from, to } of ofDay) {
      windows.push({ day, from: day * dayMs + (timeOf(from) ?? 0), until: day * dayMs + (timeOf(to) ?? 0) });
    }
  }
  return windows;
}

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
