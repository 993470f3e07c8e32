/** A month as a grid of days. Dates have no time zone here, so everything is in UTC. */
import { make } from '#web/dom.js';
import { firstDayOfWeek, isoDate } from './formats.js';

const dayMs = 86_400_000;

/**
 * The first and last day of the month that is `ahead` months from now.
 * @param {number} ahead
 */
export function monthRange(ahead) {
  const now = new Date();
  const first = Date.UTC(now.getFullYear(), now.getMonth() + ahead, 1);
  const start = new Date(first);
  return { first, last: Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0) };
}

/**
 * @param {string} locale
 * @param {number} moment
 * @param {Intl.DateTimeFormatOptions} options
 */
function format(locale, moment, options) {
  return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }).format(moment);
}

/**
 * @param {number} first
 * @param {string} locale
 */
export const monthTitle = (first, locale) => format(locale, first, { month: 'long', year: 'numeric' });

/**
 * The names of the weekdays and a cell for each day; a day with free times can be picked.
 * @param {{ first: number, last: number }} range
 * @param {readonly import('./api.js').Day[]} days
 * @param {{ locale: string, freeTimes: (count: number) => string, onPick: (date: string) => void }} options
 */
export function monthCells({ first, last }, days, { locale, freeTimes, onPick }) {
  const weekStart = firstDayOfWeek(locale);
  const weekdays = Array.from({ length: 7 }, (_, at) =>
    make('span', {
      'aria-hidden': 'true',
      // 1 January 2023 was a Sunday.
      textContent: format(locale, Date.UTC(2023, 0, 1 + weekStart + at), { weekday: 'short' }),
    }),
  );
  const free = new Map(days.map((day) => [day.date, day.open_slots]));
  const cells = [];
  for (let at = first; at <= last; at += dayMs) {
    const date = isoDate(at);
    const number = String(new Date(at).getUTCDate());
    const count = free.get(date);
    if (!count) cells.push(make('div', { className: 'none', 'aria-hidden': 'true', textContent: number }));
    else {
      const label = `${format(locale, at, { dateStyle: 'full' })}, ${freeTimes(count)}`;
      const onchange = () => onPick(date);
      const input = make('input', { type: 'radio', name: 'day', value: date, 'aria-label': label, onchange });
      cells.push(make('label', { className: 'pick' }, input, make('span', { textContent: number })));
    }
  }
  const offset = (new Date(first).getUTCDay() - weekStart + 7) % 7;
  if (cells[0]) cells[0].style.gridColumnStart = String(offset + 1);
  return [...weekdays, ...cells];
}
