/** The free times of a day, in the calendar's time zone and in the visitor's where it differs. */
import { make } from '#web/dom.js';
import { differs, ownZone, placeOf, slotTimes, zoneName } from './zones.js';

export class TimesPanel {
  #locale;
  #words;
  #own = ownZone();
  #isOwnFirst = false;
  /** @type {{ slots: readonly import('./api.js').Slot[], timeZone: string, hasSeats: boolean }} */
  #shown = { slots: [], timeZone: 'UTC', hasSeats: false };
  #times = make('div', { className: 'times' });
  #zone = make('p', { className: 'quiet' });
  #switch = make('button', { type: 'button', className: 'switch', hidden: true, onclick: () => this.#turn() });
  element = make('fieldset', { hidden: true });

  /** @param {{ locale: string, words: import('./words.js').Words }} options */
  constructor({ locale, words }) {
    this.#locale = locale;
    this.#words = words;
    this.element.append(make('legend', { textContent: words.time }), this.#times, this.#zone, this.#switch);
  }

  /** The first time that can be chosen. */
  get first() {
    return this.#times.querySelector('input');
  }

  /**
   * @param {readonly import('./api.js').Slot[]} slots
   * @param {{ timeZone?: string, hasSeats: boolean }} options `hasSeats`: whether the seats that are left are shown
   */
  show(slots, { timeZone = this.#shown.timeZone, hasSeats }) {
    this.#shown = { slots, timeZone, hasSeats };
    this.element.hidden = slots.length === 0;
    this.#draw();
  }

  #turn() {
    const chosen = this.#times.querySelector('input:checked')?.getAttribute('value');
    this.#isOwnFirst = !this.#isOwnFirst;
    this.#draw();
    for (const input of this.#times.querySelectorAll('input')) input.checked = input.value === chosen;
  }

  #draw() {
    const { slots, timeZone } = this.#shown;
    const starts = slots.map(({ start }) => start);
    const isElsewhere = starts.some((start) => differs(start, timeZone, this.#own));
    const order = this.#isOwnFirst && isElsewhere ? [this.#own, timeZone] : [timeZone, this.#own];
    const [first = timeZone, second = timeZone] = order;
    const texts = order.map((zone) => slotTimes(starts, zone, { locale: this.#locale, dayIn: timeZone }));
    this.#times.replaceChildren(
      ...slots.map((slot, at) => {
        const [main = '', other = ''] = texts.map((list) => list[at]);
        const times = isElsewhere ? [`${main} ${placeOf(first)}`, `${other} ${placeOf(second)}`] : [main];
        return this.#choice(slot, times);
      }),
    );
    const [main, other] = [zoneName(first), zoneName(second)];
    this.#zone.textContent = isElsewhere ? this.#words.zones(main, other) : this.#words.zone(main);
    this.#switch.hidden = !isElsewhere;
    this.#switch.textContent = this.#words.showZone(other);
  }

  /**
   * @param {import('./api.js').Slot} slot
   * @param {readonly string[]} times
   */
  #choice({ start, seats_left }, [main, other]) {
    const text = make('span', {}, make('b', { textContent: main }));
    if (other) text.append(make('small', { textContent: other }));
    if (this.#shown.hasSeats) text.append(make('small', { textContent: this.#words.left(seats_left) }));
    const input = make('input', { type: 'radio', name: 'start', value: start, required: true });
    return make('label', { className: 'pick' }, input, text);
  }
}
