/** How long a booking may last and how far ahead it may be. Pure. */
import { dayMs } from '#rules/time.ts';

/** With its buffers. The search for overlapping bookings relies on it. */
export const longestMs = 4 * dayMs;
export const farthestDays = 730;

type Times = { starts: number; ends: number; busyFrom: number; busyUntil: number };

/** The fault in the times of a booking or a block from elsewhere, which may be past; undefined if there is none. */
export function timesFault({ starts, ends, busyFrom, busyUntil }: Times, now: number): string | undefined {
  if (ends <= starts) return 'ends before it starts';
  if (busyFrom > starts || busyUntil < ends) return 'keeps less than its own time free';
  if (busyUntil - busyFrom > longestMs) return 'lasts longer than 4 days';
  // The horizon counts days of the calendar's time zone, so the start may be up to two days later.
  if (starts > now + (farthestDays + 2) * dayMs) return `starts more than ${farthestDays} days ahead`;
  return undefined;
}
