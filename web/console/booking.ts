/** One booking: its facts, its cancellation, and its move to another time. */
import { written } from '#rules/currencies.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { choiceField } from '#web/pages/form.ts';
import { type FreeDays, freeDaysHtml, freeDaysStyle } from '#web/pages/visitors/free-days.ts';
import { exactIn } from '#web/times.ts';
import {
  addressWords,
  type BookingShown,
  calendarName,
  clock,
  dateWords,
  intakeRows,
  isLive,
  priceWords,
  serviceName,
  span,
  statusWords,
  type TimetableShown,
  toTell,
  whenWords,
  zoneOf,
} from './booking-words.ts';
import { fieldsOf } from './fields.ts';
import { type SiteFrame, sitePage, siteQuestion } from './frame.ts';
import { ago } from './parts.ts';
import { type PaymentShown, refundLines, stateOf } from './payments.ts';
import { sitePath } from './tabs.ts';

/** `from`: its start before, if it is known. */
export type MoveShown = { at: Date; by: string; from: Date | null };

/** `payment`: of the booking. `moves`: oldest first. `isMailed`: whether the visitor gets an e-mail if it is moved or cancelled now. */
export type BookingView = {
  timetable: TimetableShown;
  booking: BookingShown;
  payment: PaymentShown | null;
  moves: readonly MoveShown[];
  isMailed: boolean;
};

const pathOf = ({ site }: SiteFrame, { id }: BookingShown) => `${sitePath(site.id, 'bookings')}/${id}`;

export function bookingPage(frame: SiteFrame, { timetable, booking, payment, moves }: BookingView): WrittenPage {
  const title = `${serviceName(timetable, booking)}${booking.visitor ? `: ${booking.visitor.name}` : ''}`;
  const path = pathOf(frame, booking);
  const zone = zoneOf(timetable, booking.calendar) ?? 'UTC';
  const isToCome = isLive(booking) && new Date(booking.end) > frame.now;
  const what = booking.kind === 'block' ? 'Remove this block' : 'Cancel the booking';
  const main = html`<h1>${title}</h1>
<div class="panel"><dl class="facts">
<dt>When</dt><dd>${whenWords(timetable, booking)}</dd>
${moveRows(moves, zone)}
<dt>Status</dt><dd>${statusWords[booking.status]}</dd>
<dt>Calendar</dt><dd>${calendarName(timetable, booking.calendar)}</dd>
${booking.seats > 1 ? html`<dt>Seats</dt><dd>${booking.seats}</dd>` : null}
${booking.place ? html`<dt>Place</dt><dd>${booking.place}</dd>` : null}
${booking.link ? html`<dt>Link</dt><dd><a href="${booking.link}" rel="noopener noreferrer">${booking.link}</a></dd>` : null}
${booking.kind === 'booking' ? html`<dt>Price</dt><dd>${priceWords(booking)}</dd>` : null}
${payment ? paymentRows(frame, payment, zone) : null}
${booking.visitor ? html`<dt>Visitor</dt><dd>${booking.visitor.name}</dd><dt>E-mail address</dt><dd>${addressWords(booking, isUnpaid(payment))}</dd>` : null}
${intakeRows(timetable, booking)}
<dt>Reference</dt><dd>${booking.reference}</dd>
<dt>Created</dt><dd>${ago(booking.created_at, frame.now)}${booking.created_by ? ', by you or your team' : ', by the visitor'}</dd>
</dl></div>
${isToCome ? html`<div class="actions"><a class="button small" href="${path}/move">Move</a><a class="button quiet small" href="${path}/cancel">${what}</a></div>` : null}`;
  return sitePage(frame, 'bookings', { title, main });
}

/** The page names the zone once, with the time of the booking. */
function moveRows(moves: readonly MoveShown[], zone: string): Html | null {
  if (moves.length === 0) return null;
  const lines = moves.map(
    ({ at, by, from }) =>
      html`<span class="line">On ${exactIn(at, zone)} by ${by}${from === null ? null : `, from ${exactIn(from, zone)}`}</span>`,
  );
  return html`<dt>Moved</dt><dd>${lines}</dd>`;
}

function paymentRows({ site }: SiteFrame, payment: PaymentShown, zone: string): Html {
  return html`<dt>Payment</dt><dd>${payment.paid_at ? `${written(payment)} paid on ${exactIn(new Date(payment.paid_at), zone)}` : stateOf(payment)} · <a href="${sitePath(site.id, 'payments')}/${payment.id}">See the payment</a></dd>
${refundLines(payment, (at) => exactIn(at, zone))}`;
}

const isUnpaid = (payment: PaymentShown | null): boolean => payment !== null && payment.paid_at === null;

export function cancellationPage(frame: SiteFrame, view: BookingView): WrittenPage {
  const { timetable, booking } = view;
  const isBlock = booking.kind === 'block';
  const asked = {
    title: isBlock ? 'Remove this block?' : 'Cancel this booking?',
    text: html`<strong>${serviceName(timetable, booking)}${booking.visitor ? `, ${booking.visitor.name}` : null}</strong><br>${whenWords(timetable, booking)}${isBlock ? html`<br>Visitors can book this time again.` : consequences(view)}`,
    action: `${pathOf(frame, booking)}/cancel`,
    button: isBlock ? 'Remove the block' : 'Cancel the booking',
    back: pathOf(frame, booking),
  };
  return siteQuestion(frame, 'bookings', asked);
}

function consequences(view: BookingView): Html {
  const { booking, payment } = view;
  const left = payment?.refundable_amount ?? 0;
  const money =
    payment && left > 0
      ? html`<br><strong>${written({ amount: left, currency: payment.currency })}</strong> is refunded. The payer gets an e-mail once the refund is complete, if the payment provider has their address.`
      : booking.status === 'held'
        ? html`<br>Nothing has been paid yet. The payment page will close.`
        : null;
  const told = toldWords(
    view,
    'that the booking is cancelled',
    'about the cancellation. It has no calendar file, so they remove the entry from their own calendar themselves',
  );
  return html`${money}${told === null ? null : html`<br>${told}`}`;
}

/** What the visitor receives, or else what to tell them. `mail` completes "gets an e-mail …". */
function toldWords({ booking, payment, isMailed }: BookingView, what: string, mail: string): string | null {
  if (!booking.visitor) return null;
  if (!isMailed) return toTell(booking, what, isUnpaid(payment));
  return `${booking.visitor.name} gets an e-mail ${mail}.`;
}

export type MoveView = BookingView & {
  /** Null where the service is no longer offered. */
  free: FreeDays | null;
  /** The chosen day and its times; null before a day is chosen. */
  day: { date: string; times: readonly { start: string; end: string }[] } | null;
};

export function movePage(frame: SiteFrame, view: MoveView): WrittenPage {
  const { timetable, booking, free, day } = view;
  const path = `${pathOf(frame, booking)}/move`;
  const title = 'Move to another time';
  const zone = zoneOf(timetable, booking.calendar);
  const told = toldWords(
    view,
    'the new time',
    'with the new time and a calendar file, which changes the entry in their own calendar',
  );
  const days = free
    ? freeDaysHtml(path, free, day?.date ?? null)
    : html`<p class="panel empty">The timetable no longer offers this service, so it lists no free times.</p>`;
  const main = html`<h1>${title}</h1>
<p class="lead">${serviceName(timetable, booking)}${booking.visitor ? `, ${booking.visitor.name}` : null}: ${whenWords(timetable, booking)}</p>
${booking.kind === 'block' ? null : html`<p>${told} The price and the reference stay the same.</p>`}
${booking.kind === 'block' || booking.created_by ? anyTime(frame, path, booking, zone) : null}
${day ? dayForm(frame, path, day, zone) : null}
${booking.kind === 'block' ? null : days}`;
  return sitePage(frame, 'bookings', { title, main, style: freeDaysStyle });
}

const inZone = (words: string, zone: string | null): string => (zone ? `${words} (${zone})` : words);

function dayForm(
  { form }: SiteFrame,
  action: string,
  { date, times }: NonNullable<MoveView['day']>,
  zone: string | null,
): Html {
  if (times.length === 0)
    return html`<section class="panel"><h2>${dateWords(date)}</h2><p>No other time is free on this day.</p></section>`;
  const radios = times.map(({ start, end }, index) =>
    choiceField('radio', 'start', start, span({ start, end }), index === 0),
  );
  return html`<section class="panel"><h2>${dateWords(date)}</h2>
${form({ action }, html`<fieldset><legend>${inZone('Time', zone)}</legend><div class="times">${radios}</div></fieldset><button>Move the booking</button>`)}</section>`;
}

/** A block, or the people's own booking, may be at any time. */
function anyTime(frame: SiteFrame, action: string, booking: BookingShown, zone: string | null): Html {
  const field = fieldsOf(frame, action);
  const inside = html`<div class="pair">${field({ name: 'date', label: 'Date', type: 'date', value: booking.start.slice(0, 10), required: true })}
${field({ name: 'time', label: inZone('Start', zone), type: 'time', value: clock(booking.start), required: true })}</div><button>Move it</button>`;
  return html`<section class="panel"><h2>Choose any time</h2>${frame.form({ action }, inside)}</section>`;
}
