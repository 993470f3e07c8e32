/** What the visitor is about to book: how long it takes and what it costs. */
import { make } from '#web/dom.js';
import { money } from './formats.js';

/**
 * What so many seats cost; null if they are free.
 * @param {import('./api.js').Service} service
 * @param {number} seats
 */
export function totalOf({ price }, seats) {
  return price && { ...price, amount: price.per === 'seat' ? price.amount * seats : price.amount };
}

/**
 * A length of time, such as `1 hour 30 minutes`.
 * @param {number} minutes
 * @param {string} locale
 */
export function duration(minutes, locale) {
  /** @type {[number, string][]} */
  const parts = [
    [Math.floor(minutes / 60), 'hour'],
    [minutes % 60, 'minute'],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count))
    .join(' ');
}

/** Shows duration, price and total above the button, and the total on it. */
export class Summary {
  #locale;
  #words;
  #text = '';
  element = make('p', { className: 'summary', role: 'status' });
  button = make('button', { className: 'send' });

  /** @param {{ locale: string, words: import('./words.js').Words }} options */
  constructor({ locale, words }) {
    this.#locale = locale;
    this.#words = words;
  }

  /**
   * @param {import('./api.js').Service} service
   * @param {FormData} data of the form, of which `seats` may be absent or wrong
   * @param {import('./api.js').Calendar | undefined} calendar
   */
  update(service, data, calendar) {
    const { place, has_link: isOnline } = service.place || service.has_link ? service : (calendar ?? service);
    const seats = Math.min(Math.max(1, Math.trunc(Number(data.get('seats') ?? 1)) || 1), service.seats_max);
    const total = totalOf(service, seats);
    const lines = [
      make('span', { textContent: `${duration(service.duration_minutes, this.#locale)} · ${this.#priceOf(service)}` }),
      ...(place ? [make('span', { textContent: place })] : []),
      ...(isOnline ? [make('span', { textContent: this.#words.online })] : []),
      ...(total ? [make('strong', { textContent: this.#words.total(money(total, this.#locale)) })] : []),
    ];
    const text = lines.map(({ textContent }) => textContent).join();
    // Announced only if it has changed.
    if (text !== this.#text) this.element.replaceChildren(...lines);
    this.#text = text;
    this.button.textContent = total ? this.#words.toPayment(money(total, this.#locale)) : this.#words.book;
  }

  /** @param {import('./api.js').Service} service */
  #priceOf({ price, seats_max: max }) {
    if (!price) return this.#words.free;
    const amount = money(price, this.#locale);
    return price.per === 'seat' && max > 1 ? this.#words.perSeat(amount) : amount;
  }
}
