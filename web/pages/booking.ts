/** The page behind the link in a visitor's mail: the booking, a button that cancels it, and the way to another time. */
import { dateIn, timesIn } from '#rules/bookings/written-times.ts';
import { type Html, html } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import type { Form } from './form.ts';

export type BookingShown = {
  service: string;
  calendar: string;
  timeZone: string;
  startsAt: Date;
  endsAt: Date;
  seats: number;
  reference: string;
  siteTitle: string;
  /** The site's canonical host name and URL. */
  hostname: string;
  address: string;
};

/** For a booking that can be cancelled. */
export function cancelPage({
  form,
  moveUrl,
  ...booking
}: BookingShown & { form: Form; moveUrl: string | null }): WrittenPage {
  const other = moveUrl
    ? html`<a href="${moveUrl}">Choose another time</a>.`
    : html`Cancel this booking and book again on <a href="${booking.address}">${booking.hostname}</a>.`;
  const main = html`<h1>Cancel this booking?</h1>
<p class="lead">${booking.siteTitle} · ${booking.hostname}</p>
${facts(booking)}
<div class="panel">
${form({}, html`<button>Cancel the booking</button>`)}
<p class="hint">Want to keep the booking? Close this page; nothing will change.</p>
<p class="hint">Is another time better? ${other}</p>
</div>`;
  return writePage({
    title: `Cancel this booking? – ${booking.hostname}`,
    brand: booking.hostname,
    main,
    layout: 'card',
    form: true,
  });
}

/**
 * For a booking that was moved, or that cannot be changed here. `changeUrl`: where the visitor of one that still stands
 * moves or cancels it; without it, the booking is cancelled, expired or past.
 */
export function linkedBookingPage({
  title,
  text,
  changeUrl,
  ...booking
}: BookingShown & { title: string; text: string; changeUrl?: string }): WrittenPage {
  const next = changeUrl
    ? html`Can’t make it? <a href="${changeUrl}">Change or cancel the booking</a>. The link in your e-mail leads there too.`
    : html`Book another time on ${booking.siteTitle} (<a href="${booking.address}">${booking.hostname}</a>).`;
  const main = html`<h1>${title}</h1>
<p class="lead">${text}</p>
${facts(booking)}
<p class="hint">${next}</p>`;
  return writePage({
    title: `${title} – ${booking.hostname}`,
    brand: booking.hostname,
    main,
    layout: 'card',
  });
}

export function facts({ service, calendar, timeZone, startsAt, endsAt, seats, reference }: BookingShown): Html {
  const [start, end] = [startsAt.toISOString(), endsAt.toISOString()];
  return html`<ul class="rows">
<li><div><strong>${service}</strong><small>${calendar}${seats > 1 ? `, ${seats} seats` : null}</small></div></li>
<li><div><strong><time datetime="${start}">${dateIn(start, timeZone)}, ${timesIn({ start, end }, timeZone)}</time></strong><small>${timeZone}</small></div></li>
<li><div><strong>${reference}</strong><small>Reference</small></div></li>
</ul>`;
}
