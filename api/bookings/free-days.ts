/** Days with free times, and the times of one of them, as the pages that move a booking show them. */
import { dateOf, mondayOf } from '#rules/bookings/dates.ts';
import { dayAt } from '#rules/bookings/time-slots.ts';
import type { FreeDays } from '#web/pages/visitors/free-days.ts';
import type { OtherTimes } from '#web/pages/visitors/move-page.ts';
import { type Choice, openDays, openSlots, type Reading } from './offers.ts';

const daysShown = 5 * 7;

/** `chosen`: the day whose times are shown. `from`: a day of the weeks that are shown; if it is absent, `chosen`. */
export async function otherTimes(
  reading: Reading,
  choice: Choice,
  { chosen, from }: { chosen: number | undefined; from: number | undefined },
): Promise<OtherTimes> {
  const free = await freeDays(reading, choice, from ?? chosen);
  if (chosen === undefined) return { free, day: null };
  const { slots: times } = await openSlots(reading, choice, dateOf(chosen));
  return { free, day: { date: dateOf(chosen), times } };
}

/** The five weeks with the asked day. They are counted from today, so each day has its place on one page. */
async function freeDays(reading: Reading, choice: Choice, asked: number | undefined): Promise<FreeDays> {
  const today = dayAt(choice.calendar.timeZone, reading.now.getTime());
  const monday = mondayOf(today);
  const pages = Math.max(0, Math.floor(((asked ?? today) - monday) / daysShown));
  const first = monday + pages * daysShown;
  const later = first + daysShown;
  const range = { from: dateOf(Math.max(first, today)), to: dateOf(later - 1) };
  return {
    days: await openDays(reading, choice, range),
    first: dateOf(first),
    today: dateOf(today),
    earlier: pages === 0 ? null : dateOf(first - daysShown),
    later: dateOf(later),
  };
}
