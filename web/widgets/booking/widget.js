/**
 * <frontage-booking site="…"> lets visitors of a website book: service, day, time, their details. One ES module without dependencies.
 *
 * Attributes: `site` (the public id), `service`, `calendar` (keys to preselect), `locale` (else the page's `lang`). The element's content
 * shows until the widget is ready, and if it is unavailable. Style: `--frontage-accent`, `--frontage-on-accent`, `--frontage-ink`,
 * `--frontage-quiet`, `--frontage-line`, `--frontage-surface`, `--frontage-radius`, `--frontage-font`. Events: `frontage-booked` (detail: the
 * booking), `frontage-held` (a booking to be paid), `frontage-unavailable`.
 */
import { make } from '#web/dom.js';
import { RequestFailed, request } from './api.js';
import { bookedPanel } from './booked-panel.js';
import { bookingIn, detailFields } from './details.js';
import { field, optionsOf } from './dom.js';
import { isoDate, localeOf } from './formats.js';
import { monthCells, monthRange, monthTitle } from './month.js';
import { BookingSender } from './sender.js';
import { style } from './style.js';
import { Summary } from './summary.js';
import { TimesPanel } from './times.js';
import { wordsIn } from './words.js';

class FrontageBooking extends HTMLElement {
  #root = this.attachShadow({ mode: 'open' });
  #month = 0;
  #sender = new BookingSender((place) => this.append(place));
  #requests = 0;
  #path = '';
  #locale = 'en';
  #words = wordsIn('en');
  /** @type {import('./api.js').Offer} */
  #offer = { services: [], calendars: [], notices: false };
  /** @type {import('./api.js').Service[]} */
  #services = [];

  #serviceSelect = make('select', { name: 'service', onchange: () => this.#choose() });
  #calendarSelect = make('select', { name: 'calendar', onchange: () => this.#choose({ keepCalendar: true }) });
  #calendarField = make('label', { className: 'field' });
  #previous = make('button', { type: 'button', textContent: '‹', onclick: () => this.#turn(-1) });
  #next = make('button', { type: 'button', textContent: '›', onclick: () => this.#turn(1) });
  #monthName = make('strong', { 'aria-live': 'polite' });
  #days = make('div', { className: 'days' });
  #dayHint = make('div');
  #times = new TimesPanel({ locale: this.#locale, words: this.#words });
  #summary = new Summary({ locale: this.#locale, words: this.#words });
  #details = make('fieldset', { hidden: true });
  #fault = make('p', { className: 'fault', role: 'alert' });
  #form = make('form', {
    onsubmit: (/** @type {SubmitEvent} */ event) => this.#book(event),
    oninput: () => this.#summarize(),
  });

  connectedCallback() {
    if (this.#root.childElementCount > 0) return;
    this.#root.adoptedStyleSheets = [style];
    this.#root.append(make('slot'));
    void this.#start();
  }

  async #start() {
    this.#locale = localeOf(this);
    this.#words = wordsIn(this.#locale);
    this.#path = `/b/${encodeURIComponent(this.getAttribute('site') ?? '')}`;
    try {
      this.#offer = await request(this.#path);
    } catch (error) {
      return this.#unavailable(/** @type {RequestFailed} */ (error));
    }
    const wanted = this.getAttribute('service');
    this.#services = this.#offer.services.filter(({ key, open }) => open && (!wanted || key === wanted));
    if (this.#services.length === 0) return this.#unavailable(new RequestFailed());
    this.#build();
    await this.#choose();
  }

  /** @param {RequestFailed} error no form is shown; the element's content stays */
  #unavailable(error) {
    this.dispatchEvent(new CustomEvent('frontage-unavailable', { detail: { code: error.code } }));
    if (error.code === 'bookings_unavailable') this.hidden = true;
  }

  #build() {
    const w = this.#words;
    this.#serviceSelect.append(...optionsOf(this.#services));
    this.#previous.setAttribute('aria-label', w.before);
    this.#next.setAttribute('aria-label', w.after);
    this.#form.setAttribute('aria-label', w.book);
    this.#calendarField.append(make('span', { className: 'label', textContent: w.calendar }), this.#calendarSelect);
    this.#times = new TimesPanel({ locale: this.#locale, words: w });
    this.#summary = new Summary({ locale: this.#locale, words: w });
    const service = field(w.service, this.#serviceSelect);
    service.hidden = this.#services.length === 1;
    const month = make('div', { className: 'month' }, this.#previous, this.#monthName, this.#next);
    const day = make('fieldset', {}, make('legend', { textContent: w.day }), month, this.#days, this.#dayHint);
    this.#form.append(service, this.#calendarField, day, this.#times.element, this.#details);
    this.#form.append(this.#summary.element, this.#fault, this.#summary.button);
    this.#fault.before(this.#sender.slot);
    this.#root.querySelector('slot')?.replaceWith(this.#form);
  }

  get #service() {
    const found = this.#services.find(({ key }) => key === this.#serviceSelect.value);
    return /** @type {import('./api.js').Service} */ (found);
  }

  /** Loads everything that depends on the service and the calendar. */
  async #choose({ keepCalendar = false } = {}) {
    if (!keepCalendar) {
      this.#offerCalendars();
      const options = { ...this.#offer, typed: new FormData(this.#form) };
      this.#details.replaceChildren(...detailFields(this.#service, this.#words, options));
    }
    this.#summarize();
    this.#month = 0;
    this.#showTimes([]);
    await this.#showDays({ seek: true });
  }

  #summarize() {
    this.#summary.update(this.#service, new FormData(this.#form), this.#calendar(this.#calendarSelect.value));
  }

  /** @param {string} key */
  #calendar = (key) => this.#offer.calendars.find((one) => one.key === key);

  #offerCalendars() {
    const preset = this.getAttribute('calendar');
    const fitting = this.#offer.calendars.filter(({ key }) => this.#service.calendar_keys.includes(key));
    const offered = fitting.filter(({ key }) => !preset || key === preset);
    const shown = offered.length > 0 ? offered : fitting;
    this.#calendarSelect.replaceChildren(...optionsOf(shown));
    this.#calendarField.hidden = shown.length === 1;
  }

  /** @param {Record<string, string>} more */
  #query(more) {
    return new URLSearchParams({ service: this.#serviceSelect.value, calendar: this.#calendarSelect.value, ...more });
  }

  /** @param {number} step */
  async #turn(step) {
    this.#month += step;
    this.#showTimes([]);
    await this.#showDays();
  }

  /**
   * `seek`: moves on to the first month with a free day.
   * @returns {Promise<void>}
   */
  async #showDays({ seek = false } = {}) {
    const range = monthRange(this.#month);
    const current = ++this.#requests;
    const monthsAhead = Math.ceil(this.#service.horizon_days / 28);
    /** @type {import('./api.js').Day[]} */
    let days = [];
    try {
      const query = this.#query({ from: isoDate(range.first), to: isoDate(range.last) });
      ({ days } = await request(`${this.#path}/days?${query}`));
    } catch (error) {
      this.#showError(error);
    }
    if (current !== this.#requests) return;
    if (seek && days.length === 0 && this.#month < Math.min(monthsAhead, 6)) {
      this.#month += 1;
      return await this.#showDays({ seek });
    }
    const w = this.#words;
    this.#monthName.textContent = monthTitle(range.first, this.#locale);
    this.#previous.disabled = this.#month === 0;
    this.#next.disabled = this.#month >= monthsAhead;
    const options = {
      locale: this.#locale,
      freeTimes: w.open,
      onPick: (/** @type {string} */ date) => this.#openDay(date),
    };
    this.#days.replaceChildren(...monthCells(range, days, options));
    if (days.length === 0)
      this.#dayHint.replaceChildren(make('p', { className: 'quiet', role: 'status', textContent: w.noDays }));
    else this.#dayHint.replaceChildren();
  }

  /** @param {string} date */
  async #openDay(date) {
    const current = ++this.#requests;
    this.#fault.textContent = '';
    try {
      const { slots, time_zone } = await request(`${this.#path}/slots?${this.#query({ date })}`);
      if (current === this.#requests) this.#showTimes(slots, time_zone);
    } catch (error) {
      this.#showError(error);
    }
  }

  /**
   * @param {readonly import('./api.js').Slot[]} slots
   * @param {string} [timeZone]
   */
  #showTimes(slots, timeZone) {
    for (const part of [this.#details, this.#summary.element, this.#summary.button]) part.hidden = slots.length === 0;
    this.#times.show(slots, { ...(timeZone ? { timeZone } : {}), hasSeats: this.#service.seats_max > 1 });
  }

  /** @param {SubmitEvent} event */
  async #book(event) {
    event.preventDefault();
    const data = new FormData(this.#form);
    this.#summary.button.disabled = true;
    this.#fault.textContent = '';
    try {
      this.#showOutcome(await this.#sender.send(this.#path, bookingIn(data, this.#service)));
    } catch (error) {
      this.#showError(error);
      const code = error instanceof RequestFailed ? error.code : '';
      if (code === 'slot_taken' || code === 'invalid_slot') await this.#offerOtherTimes(String(data.get('day')));
    } finally {
      this.#summary.button.disabled = false;
    }
  }

  /** @param {string} date */
  async #offerOtherTimes(date) {
    await this.#openDay(date);
    this.#fault.textContent = this.#words.taken;
    (this.#times.first ?? this.#days.querySelector('input'))?.focus();
  }

  /** @param {import('./api.js').Booking} booking */
  #showOutcome(booking) {
    const { time_zone: timeZone = 'UTC' } = this.#calendar(booking.calendar) ?? {};
    const panel = bookedPanel({ booking, timeZone, service: this.#service, locale: this.#locale, words: this.#words });
    this.#form.replaceWith(panel);
    panel.focus();
    this.dispatchEvent(
      new CustomEvent(booking.pay_url ? 'frontage-held' : 'frontage-booked', {
        detail: booking,
        bubbles: true,
        composed: true,
      }),
    );
  }

  /** @param {unknown} error */
  #showError(error) {
    const { code, message } = error instanceof RequestFailed ? error : { code: 'unexpected', message: String(error) };
    if (code === 'bookings_unavailable') return this.#unavailable(new RequestFailed({ code }));
    this.#fault.textContent = code === '' ? this.#words.offline : (this.#words.codes[code] ?? message);
  }
}

customElements.get('frontage-booking') ?? customElements.define('frontage-booking', FrontageBooking);
