/** One booking: its facts, its cancellation, and its move to another time. */
import { written } from '#rules/currencies.ts';
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { choiceField } from '#web/pages/form.ts';
import {
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
  whenWords,
  zoneOf,
} from './booking-words.ts';
import { fieldsOf } from './fields.ts';
import { type SiteFrame, sitePage, siteQuestion } from './frame.ts';
import { ago } from './parts.ts';
import type { PaymentRead } from './payments.ts';
import { sitePath } from './tabs.ts';

/** `payment`: of the booking, if the reader may see it. */
export type BookingView = { timetable: TimetableShown; booking: BookingShown; payment: PaymentRead | null };

const pathOf = ({ site }: SiteFrame, { id }: BookingShown) => `${sitePath(site.id, 'bookings')}/${id}`;

export function bookingPage(frame: SiteFrame, { timetable, booking, payment }: BookingView): WrittenPage {
  const title = `${serviceName(timetable, booking)}${booking.visitor ? `: ${booking.visitor.name}` : ''}`;
  const path = pathOf(frame, booking);
  const isToCome = isLive(booking) && new Date(booking.end) > frame.now;
  const what = booking.kind === 'block' ? 'Remove this block' : 'Cancel the booking';
  const main = html`<h1>${title}</h1>
<div class="panel"><dl class="facts">
<dt>When</dt><dd>${whenWords(timetable, booking)}</dd>
<dt>Status</dt><dd>${statusWords[booking.status]}</dd>
<dt>Calendar</dt><dd>${calendarName(timetable, booking.calendar)}</dd>
<dt>Seats</dt><dd>${booking.seats}</dd>
${booking.place ? html`<dt>Place</dt><dd>${booking.place}</dd>` : null}
${booking.link ? html`<dt>Link</dt><dd><a href="${booking.link}" rel="noopener noreferrer">${booking.link}</a></dd>` : null}
${booking.kind === 'booking' ? html`<dt>Price</dt><dd>${priceWords(booking)}${payment ? html` · <a href="${sitePath(frame.site.id, 'payments')}/${payment.id}">See the payment</a>` : null}</dd>` : null}
${intakeRows(timetable, booking)}
<dt>Reference</dt><dd>${booking.reference}</dd>
<dt>Created</dt><dd>${ago(booking.created_at, frame.now)}${booking.created_by ? ', by you or your team' : ', by the visitor'}</dd>
</dl></div>
${isToCome ? html`<div class="actions"><a class="button small" href="${path}/move">Move</a><a class="button quiet small" href="${path}/cancel">${what}</a></div>` : null}`;
  return sitePage(frame, 'bookings', { title, main });
}

export function cancellationPage(frame: SiteFrame, { timetable, booking, payment }: BookingView): WrittenPage {
  const isBlock = booking.kind === 'block';
  const asked = {
    title: isBlock ? 'Remove this block?' : 'Cancel this booking?',
    text: html`<strong>${serviceName(timetable, booking)}${booking.visitor ? `, ${booking.visitor.name}` : null}</strong><br>${whenWords(timetable, booking)}${isBlock ? html`<br>Visitors can book this time again.` : consequences(booking, payment)}`,
    action: `${pathOf(frame, booking)}/cancel`,
    button: isBlock ? 'Remove the block' : 'Cancel the booking',
    back: pathOf(frame, booking),
  };
  return siteQuestion(frame, 'bookings', asked);
}

function consequences({ status, visitor }: BookingShown, payment: PaymentRead | null): Html {
  const left = payment?.status === 'paid' ? payment.amount - payment.refunded_amount : 0;
  const money =
    payment && left > 0
      ? html`<br><strong>${written({ amount: left, currency: payment.currency })}</strong> is refunded to the payer.`
      : status === 'held'
        ? html`<br>Nothing has been paid yet. The payment page will close.`
        : null;
  return html`${money}${visitor ? html`<br>${visitor.name} gets an e-mail if they asked for one when they booked. If not, the next page says how to tell them.` : null}`;
}

export type MoveView = BookingView & {
  /** Days with available times from a date on; `later` is the first day after them. */
  days: readonly { date: string; open_slots: number }[];
  later: string;
  /** The chosen day and its times; null before a day is chosen. */
  day: { date: string; times: readonly { start: string; end: string }[] } | null;
};

export function movePage(frame: SiteFrame, view: MoveView): WrittenPage {
  const { timetable, booking, days, day, later } = view;
  const path = `${pathOf(frame, booking)}/move`;
  const title = 'Move to another time';
  const zone = zoneOf(timetable, booking.calendar);
  const free = html`${day ? dayForm(frame, path, day, zone) : null}
<section><h2>Days with free times</h2>
${days.length > 0 ? html`<ul class="rows">${days.map(({ date, open_slots: count }) => html`<li><a href="${path}?date=${date}">${dateWords(date)}</a><small>${count === 1 ? '1 time' : `${count} times`}</small></li>`)}</ul>` : html`<p class="panel empty">No free times in these weeks.</p>`}
<p><a href="${path}?from=${later}">Later days</a></p></section>`;
  const main = html`<h1>${title}</h1>
<p class="lead">${serviceName(timetable, booking)}${booking.visitor ? `, ${booking.visitor.name}` : null}: ${whenWords(timetable, booking)}</p>
<p class="hint">The price and the reference stay the same.</p>
${booking.kind === 'block' || booking.created_by ? anyTime(frame, path, booking, zone) : null}
${booking.kind === 'block' ? null : free}`;
  return sitePage(frame, 'bookings', { title, main });
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
