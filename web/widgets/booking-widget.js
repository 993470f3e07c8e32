/**
 * <frontage-booking site="…"> lets visitors of a website book: service, day, time, who they are. A plain ES module without dependencies.
 *
 * Attributes: `site` (the public id), `service`, `calendar` (keys; the only ones need none), `locale` (else the page's `lang`). What stands
 * inside the element shows until it is ready, and where it cannot be. Looks: `--frontage-accent`, `--frontage-on-accent`, `--frontage-ink`,
 * `--frontage-quiet`, `--frontage-line`, `--frontage-surface`, `--frontage-radius`, `--frontage-font`. Events: `frontage-booked` (detail: the
 * booking), `frontage-held` (one that is to be paid), `frontage-unavailable`.
 */
import { style } from './booking-widget.css';
import { words } from './booking-widget-words.js';

const base = new URL(import.meta.url).origin;
const dayMs = 86_400_000;

/** An element with properties, attributes (lower case with `-`, or `role`) and children. */
function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (name.includes('-') || name === 'role') element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

/** What the platform said, or that it could not be reached. `code` is the contract's. */
class Refused extends Error {
  constructor({ code = '', message = '' } = {}) {
    super(message);
    this.code = code;
  }
}

async function ask(path, init) {
  const answer = await fetch(`${base}${path}`, init).catch(() => undefined);
  const body = await answer?.json().catch(() => undefined);
  if (answer?.ok && body) return body;
  throw new Refused(body?.error);
}

class FrontageBooking extends HTMLElement {
  #root = this.attachShadow({ mode: 'open' });
  #month = 0;
  #sent = { body: '', key: '' };
  #asked = 0;

  connectedCallback() {
    if (this.#root.childElementCount > 0) return;
    this.#root.append(make('style', { textContent: style }), make('slot'));
    void this.start();
  }

  async start() {
    const spoken = navigator.language || 'en';
    const written = this.getAttribute('locale') || this.closest('[lang]')?.lang || spoken;
    // A page in plain English is read in London and in New York: the reader's own way to write times, where the language is the same.
    this.locale = spoken.startsWith(`${written}-`) ? spoken : written;
    this.words = words[this.locale.slice(0, 2).toLowerCase()] ?? words.en;
    this.path = `/b/${encodeURIComponent(this.getAttribute('site') ?? '')}`;
    try {
      this.offer = await ask(this.path);
    } catch (error) {
      return this.#unavailable(error);
    }
    const wanted = this.getAttribute('service');
    this.services = this.offer.services.filter(({ key, open }) => open && (!wanted || key === wanted));
    if (this.services.length === 0) return this.#unavailable(new Refused());
    this.#build();
    await this.#choose();
  }

  /** A website that takes no bookings shows no form; what stands inside the element stays. */
  #unavailable(error) {
    this.dispatchEvent(new CustomEvent('frontage-unavailable', { detail: { code: error.code } }));
    if (error.code === 'bookings_unavailable') this.hidden = true;
  }

  #build() {
    const { words: w } = this;
    const options = (list) => list.map(({ key, name }) => make('option', { value: key, textContent: name }));
    this.dayHint = make('div');
    this.zone = make('p', { className: 'quiet' });
    this.service = make('select', { name: 'service', onchange: () => this.#choose() }, ...options(this.services));
    this.calendar = make('select', { name: 'calendar', onchange: () => this.#choose({ keepCalendar: true }) });
    this.back = make('button', {
      type: 'button',
      textContent: '‹',
      'aria-label': w.before,
      onclick: () => this.#turn(-1),
    });
    this.on = make('button', { type: 'button', textContent: '›', 'aria-label': w.after, onclick: () => this.#turn(1) });
    this.monthName = make('strong', { 'aria-live': 'polite' });
    this.days = make('div', { className: 'days' });
    const calendarName = make('span', { className: 'label', textContent: w.calendar });
    this.calendarField = make('label', { className: 'field' }, calendarName, this.calendar);
    this.times = make('div', { className: 'times' });
    this.timesSet = make('fieldset', { hidden: true }, make('legend', { textContent: w.time }), this.times, this.zone);
    this.who = make('fieldset', { hidden: true });
    this.fault = make('p', { className: 'fault', role: 'alert' });
    this.send = make('button', { className: 'send', textContent: w.book, hidden: true });
    this.form = make(
      'form',
      { onsubmit: (event) => this.#book(event), 'aria-label': w.book },
      make(
        'label',
        { className: 'field', hidden: this.services.length === 1 },
        make('span', { className: 'label', textContent: w.service }),
        this.service,
      ),
      this.calendarField,
      make(
        'fieldset',
        {},
        make('legend', { textContent: w.day }),
        make('div', { className: 'month' }, this.back, this.monthName, this.on),
        this.days,
        this.dayHint,
      ),
      this.timesSet,
      this.who,
      this.fault,
      this.send,
    );
    this.#root.querySelector('slot')?.replaceWith(this.form);
  }

  get #service() {
    return this.services.find(({ key }) => key === this.service.value);
  }

  /** Another service or calendar: what depends on it is asked anew. */
  async #choose({ keepCalendar = false } = {}) {
    if (!keepCalendar) {
      const preset = this.getAttribute('calendar');
      const fitting = this.offer.calendars.filter(({ key }) => this.#service.calendar_keys.includes(key));
      const offered = fitting.filter(({ key }) => !preset || key === preset);
      const shown = offered.length > 0 ? offered : fitting;
      this.calendar.replaceChildren(...shown.map(({ key, name }) => make('option', { value: key, textContent: name })));
      this.calendarField.hidden = shown.length === 1;
      this.#askVisitor();
    }
    this.#month = 0;
    this.#showTimes([]);
    await this.#showDays({ seek: true });
  }

  #query(more) {
    return new URLSearchParams({ service: this.service.value, calendar: this.calendar.value, ...more });
  }

  async #turn(step) {
    this.#month += step;
    this.#showTimes([]);
    await this.#showDays();
  }

  /** The month that is shown, as UTC moments of its first and last day: dates have no zone here. */
  #range() {
    const now = new Date();
    const first = Date.UTC(now.getFullYear(), now.getMonth() + this.#month, 1);
    const start = new Date(first);
    return { first, last: Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0) };
  }

  /** `seek`: goes on to the first month that has room. */
  async #showDays({ seek = false } = {}) {
    const { first, last } = this.#range();
    const asked = ++this.#asked;
    const iso = (moment) => new Date(moment).toISOString().slice(0, 10);
    const monthsAhead = Math.ceil(this.#service.horizon_days / 28);
    let days = [];
    try {
      ({ days } = await ask(`${this.path}/days?${this.#query({ from: iso(first), to: iso(last) })}`));
    } catch (error) {
      this.#say(error);
    }
    if (asked !== this.#asked) return;
    if (seek && days.length === 0 && this.#month < Math.min(monthsAhead, 6)) {
      this.#month += 1;
      return await this.#showDays({ seek });
    }
    const say = (moment, options) =>
      new Intl.DateTimeFormat(this.locale, { ...options, timeZone: 'UTC' }).format(moment);
    this.monthName.textContent = say(first, { month: 'long', year: 'numeric' });
    this.back.disabled = this.#month === 0;
    this.on.disabled = this.#month >= monthsAhead;
    const starts = firstDayOfWeek(this.locale);
    const lead = (new Date(first).getUTCDay() - starts + 7) % 7;
    const heads = Array.from({ length: 7 }, (_, at) =>
      make('span', {
        'aria-hidden': 'true',
        textContent: say(Date.UTC(2023, 0, 1 + starts + at), { weekday: 'short' }),
      }),
    );
    const open = new Map(days.map((day) => [day.date, day.open_slots]));
    const cells = [];
    for (let at = first; at <= last; at += dayMs) {
      const number = String(new Date(at).getUTCDate());
      const room = open.get(iso(at));
      if (!room) cells.push(make('div', { className: 'none', 'aria-hidden': 'true', textContent: number }));
      else {
        const label = `${say(at, { dateStyle: 'full' })}, ${this.words.open(room)}`;
        const input = make('input', {
          type: 'radio',
          name: 'day',
          value: iso(at),
          'aria-label': label,
          onchange: () => this.#openDay(iso(at)),
        });
        cells.push(make('label', { className: 'pick' }, input, make('span', { textContent: number })));
      }
    }
    if (cells[0]) cells[0].style.gridColumnStart = String(lead + 1);
    this.days.replaceChildren(...heads, ...cells);
    this.dayHint.replaceChildren(
      ...(days.length === 0 ? [make('p', { className: 'quiet', role: 'status', textContent: this.words.noDays })] : []),
    );
  }

  async #openDay(date) {
    const asked = ++this.#asked;
    this.fault.textContent = '';
    try {
      const { slots, time_zone } = await ask(`${this.path}/slots?${this.#query({ date })}`);
      if (asked === this.#asked) this.#showTimes(slots, time_zone);
    } catch (error) {
      this.#say(error);
    }
  }

  #showTimes(slots, timeZone) {
    this.timesSet.hidden = this.who.hidden = this.send.hidden = slots.length === 0;
    const time = (start, more) =>
      new Intl.DateTimeFormat(this.locale, { timeStyle: 'short', timeZone, ...more }).format(new Date(start));
    const seen = new Map();
    for (const { start } of slots) seen.set(time(start), (seen.get(time(start)) ?? 0) + 1);
    const picks = slots.map(({ start, seats_left }) => {
      // An hour that comes twice: told apart by its distance to UTC.
      const twice = seen.get(time(start)) > 1 ? ` (UTC${start.slice(19)})` : '';
      const text = make('span', {}, make('b', { textContent: time(start) + twice }));
      if (this.#service.seats_max > 1) text.append(make('small', { textContent: this.words.left(seats_left) }));
      return make(
        'label',
        { className: 'pick' },
        make('input', { type: 'radio', name: 'start', value: start, required: true }),
        text,
      );
    });
    this.times.replaceChildren(...picks);
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
    this.zone.textContent = timeZone && timeZone !== here ? this.words.zone(timeZone.replaceAll('_', ' ')) : '';
  }

  /** Name, address, and what the service asks beside. */
  #askVisitor() {
    const { words: w } = this;
    const { seats_max, intake, price } = this.#service;
    const text = (label, input) =>
      make('label', { className: 'field' }, make('span', { className: 'label', textContent: label }), input);
    const seats = make('input', {
      type: 'number',
      name: 'seats',
      min: '1',
      max: String(seats_max),
      value: '1',
      required: true,
    });
    this.who.replaceChildren(
      make('legend', { textContent: w.who }),
      ...(seats_max > 1 ? [text(w.seats, seats)] : []),
      text(w.name, make('input', { name: 'name', autocomplete: 'name', maxLength: 100, required: true })),
      text(
        w.email,
        make('input', { type: 'email', name: 'email', autocomplete: 'email', maxLength: 254, required: true }),
      ),
      ...intake.filter(({ kind }) => kind !== 'hidden').map((field) => intakeField(field, text, w)),
      ...(price ? [make('p', { className: 'quiet', textContent: money(price, this.locale) })] : []),
    );
  }

  async #book(event) {
    event.preventDefault();
    const data = new FormData(this.form);
    const intake = {};
    for (const { name, kind } of this.#service.intake) {
      const given = data.getAll(`intake.${name}`).filter((value) => value !== '');
      if (given.length > 0) intake[name] = kind === 'checkboxes' ? given : given[0];
    }
    const body = JSON.stringify({
      service: this.service.value,
      calendar: this.calendar.value,
      start: data.get('start'),
      seats: Number(data.get('seats') ?? 1),
      visitor: { name: data.get('name'), email: data.get('email') },
      intake,
    });
    // The same wish sent again, after an answer that was lost, is the same booking.
    if (this.#sent.body !== body) this.#sent = { body, key: newKey() };
    this.send.disabled = true;
    this.fault.textContent = '';
    const headers = { 'content-type': 'application/json', 'idempotency-key': this.#sent.key };
    try {
      this.#done(await ask(this.path, { method: 'POST', headers, body }));
    } catch (error) {
      this.#say(error);
      if (error.code === 'slot_taken' || error.code === 'invalid_slot') {
        await this.#openDay(data.get('day'));
        this.fault.textContent = this.words.taken;
        (this.times.querySelector('input') ?? this.days.querySelector('input'))?.focus();
      }
    } finally {
      this.send.disabled = false;
    }
  }

  #done(booking) {
    const { time_zone: timeZone } = this.offer.calendars.find(({ key }) => key === booking.calendar) ?? {};
    const when = new Intl.DateTimeFormat(this.locale, { dateStyle: 'full', timeStyle: 'short', timeZone }).format(
      new Date(booking.start),
    );
    const w = this.words;
    if (booking.pay_url) return this.#toPay(booking, when);
    const panel = make(
      'div',
      { className: 'done', role: 'status', tabIndex: -1 },
      make('h2', { textContent: w.booked }),
      make('p', {}, make('strong', { textContent: this.#service.name }), make('br'), when),
      make('p', { textContent: `${w.reference}: ${booking.reference}` }),
      make('p', { className: 'quiet', textContent: booking.mail === null ? w.unmailed : w.mailed }),
    );
    this.form.replaceWith(panel);
    panel.focus();
    this.dispatchEvent(new CustomEvent('frontage-booked', { detail: booking, bubbles: true, composed: true }));
  }

  /** The seats are held: the visitor goes on to the page where they pay. */
  #toPay(booking, when) {
    const w = this.words;
    const ends = new Intl.DateTimeFormat(this.locale, { timeStyle: 'short' }).format(new Date(booking.hold_expires_at));
    const panel = make(
      'div',
      { className: 'done', role: 'status', tabIndex: -1 },
      make('h2', { textContent: w.held }),
      make('p', {}, make('strong', { textContent: this.#service.name }), make('br'), when),
      make('p', { textContent: w.payUntil(money(this.#service.price, this.locale), ends) }),
      make('a', { className: 'send', href: booking.pay_url, target: '_top', textContent: w.pay }),
    );
    this.form.replaceWith(panel);
    panel.focus();
    this.dispatchEvent(new CustomEvent('frontage-held', { detail: booking, bubbles: true, composed: true }));
  }

  #say(error) {
    const { words: w } = this;
    if (error.code === 'bookings_unavailable') return this.#unavailable(error);
    this.fault.textContent = error.code === '' ? w.offline : (w.codes[error.code] ?? error.message);
  }
}

function intakeField({ name, label, kind, required, options = [], max_length }, text, w) {
  const named = { name: `intake.${name}`, required };
  const title = required ? label : `${label} (${w.optional})`;
  if (kind === 'textarea')
    return text(title, make('textarea', { ...named, rows: 3, ...(max_length ? { maxLength: max_length } : {}) }));
  if (kind === 'select') {
    const choices = ['', ...options].map((value) => make('option', { value, textContent: value }));
    return text(title, make('select', named, ...choices));
  }
  if (kind === 'checkbox') {
    return make(
      'label',
      { className: 'check' },
      make('input', { ...named, type: 'checkbox', value: 'yes' }),
      make('span', { textContent: title }),
    );
  }
  if (kind === 'radio' || kind === 'checkboxes') {
    const type = kind === 'radio' ? 'radio' : 'checkbox';
    const choices = options.map((value) =>
      make(
        'label',
        { className: 'check' },
        make('input', { ...named, type, value, required: required && type === 'radio' }),
        make('span', { textContent: value }),
      ),
    );
    return make('fieldset', {}, make('legend', { textContent: title }), ...choices);
  }
  return text(
    title,
    make('input', {
      ...named,
      type: kind,
      ...(kind === 'number' ? { step: 'any' } : {}),
      ...(max_length ? { maxLength: max_length } : {}),
    }),
  );
}

function money({ amount, currency }, locale) {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
}

/** 0 is Sunday. Not every browser knows it. */
function firstDayOfWeek(locale) {
  try {
    const known = new Intl.Locale(locale);
    return (known.getWeekInfo?.() ?? known.weekInfo)?.firstDay % 7 || 0;
  } catch {
    return 1;
  }
}

/** Pages without TLS have no `randomUUID`. */
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

customElements.get('frontage-booking') ?? customElements.define('frontage-booking', FrontageBooking);
