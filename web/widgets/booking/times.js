/** The free times of a day. */
import { make } from '#web/dom.js';

/**
 * @param {readonly import('./api.js').Slot[]} slots
 * @param {{ locale: string, timeZone: string | undefined, seatsLeft: ((count: number) => string) | undefined }} options
 */
export function timeChoices(slots, { locale, timeZone, seatsLeft }) {
  const format = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone });
  /** @param {string} start */
  const timeOf = (start) => format.format(new Date(start));
  const counts = new Map();
  for (const { start } of slots) counts.set(timeOf(start), (counts.get(timeOf(start)) ?? 0) + 1);
  return slots.map(({ start, seats_left }) => {
    // An hour that occurs twice when clocks go back: the offset distinguishes them.
    const offset = counts.get(timeOf(start)) > 1 ? ` (UTC${start.slice(19)})` : '';
    const text = make('span', {}, make('b', { textContent: timeOf(start) + offset }));
    if (seatsLeft) text.append(make('small', { textContent: seatsLeft(seats_left) }));
    const input = make('input', { type: 'radio', name: 'start', value: start, required: true });
    return make('label', { className: 'pick' }, input, text);
  });
}
