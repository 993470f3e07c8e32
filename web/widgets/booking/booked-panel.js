/** The panel that replaces the form after a booking. */
import { make } from '#web/dom.js';
import { money } from './formats.js';
import { differs, momentText, ownZone } from './zones.js';

/**
 * @typedef {{ booking: import('./api.js').Booking, service: import('./api.js').Service, timeZone: string, locale: string, words: import('./words.js').Words }} Outcome
 */

/** @param {Outcome} outcome */
export function bookedPanel(outcome) {
  const { booking, service, timeZone, locale, words } = outcome;
  const own = ownZone();
  const isElsewhere = differs(booking.start, timeZone, own);
  return make(
    'div',
    { className: 'done', role: 'status', tabIndex: -1 },
    make('h2', { textContent: booking.pay_url ? words.held : words.booked }),
    make(
      'p',
      {},
      make('strong', { textContent: service.name }),
      make('br'),
      momentText(booking.start, timeZone, locale),
    ),
    ...(isElsewhere ? [make('p', { className: 'quiet', textContent: momentText(booking.start, own, locale) })] : []),
    ...(booking.place ? [make('p', { textContent: booking.place })] : []),
    ...(booking.link ? [make('p', {}, make('a', { href: booking.link, textContent: booking.link }))] : []),
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
function paymentLines({ booking, locale, words }) {
  const expiry = momentText(booking.hold_expires_at ?? booking.start, ownZone(), locale);
  const price = booking.price ? money(booking.price, locale) : '';
  return [
    make('p', { textContent: words.payUntil(price, expiry) }),
    make('a', { className: 'send', href: booking.pay_url, target: '_top', textContent: words.pay }),
  ];
}
