/** The panel that replaces the form after a booking. */
import { make } from '#web/dom.js';
import { money } from './formats.js';

/**
 * @typedef {{ booking: import('./api.js').Booking, service: import('./api.js').Service, timeZone: string | undefined, locale: string, words: import('./words.js').Words }} Outcome
 */

/** @param {Outcome} outcome */
export function bookedPanel(outcome) {
  const { booking, service, timeZone, locale, words } = outcome;
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short', timeZone });
  const when = format.format(new Date(booking.start));
  return make(
    'div',
    { className: 'done', role: 'status', tabIndex: -1 },
    make('h2', { textContent: booking.pay_url ? words.held : words.booked }),
    make('p', {}, make('strong', { textContent: service.name }), make('br'), when),
    ...(booking.pay_url ? paymentLines(outcome) : confirmationLines(outcome)),
  );
}

/** @param {Outcome} outcome */
function confirmationLines({ booking, words }) {
  return [
    make('p', { textContent: `${words.reference}: ${booking.reference}` }),
    make('p', {
      className: 'quiet',
      textContent: booking.mail === null || booking.mail === 'not_sent' ? words.unmailed : words.mailed,
    }),
  ];
}

/** @param {Outcome} outcome */
function paymentLines({ booking, service, locale, words }) {
  const expiry = new Intl.DateTimeFormat(locale, { timeStyle: 'short' }).format(
    new Date(booking.hold_expires_at ?? booking.start),
  );
  const price = service.price ? money(service.price, locale) : '';
  return [
    make('p', { textContent: words.payUntil(price, expiry) }),
    make('a', { className: 'send', href: booking.pay_url, target: '_top', textContent: words.pay }),
  ];
}
