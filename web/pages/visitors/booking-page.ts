/** The booking page of a site on our own origin: the booking widget, or how else to book. */
import { readFileSync } from 'node:fs';
import { written } from '#rules/currencies.ts';
import type { PageColors } from '#rules/page-colors.ts';
import { type Html, html, linesHtml } from '#web/html.ts';
import { type WrittenPage, writePage } from '#web/page.ts';
import { colorStyle } from '#web/page-colors.ts';
import { bookingWidget } from '#web/widgets/booking-widget.ts';

const style = readFileSync(new URL('./booking-page.css', import.meta.url), 'utf8');

/** The path of the widget, under its hash. */
const widgetPath = `/b/widget-${bookingWidget.hash}.js`;

export type OfferedService = {
  name: string;
  duration_minutes: number;
  place: string | null;
  price: { amount: number; currency: string; per: 'seat' | 'booking' } | null;
  /** Whether it can be booked now. */
  open: boolean;
};

export type BookingPageShown = {
  publicId: string;
  siteTitle: string;
  /** The site's canonical host name and URL. */
  hostname: string;
  address: string;
  services: readonly OfferedService[];
  colors: PageColors | null | undefined;
  /** The owner's text for visitors without scripts. */
  fallback: string | null | undefined;
  /** The origin of a hosted challenge, if this platform uses one. */
  challengeOrigin?: string | undefined;
};

export function bookingPage(shown: BookingPageShown): WrittenPage {
  const { publicId, siteTitle, hostname, address, services, colors, challengeOrigin } = shown;
  const isOpen = services.some(({ open }) => open);
  const other = otherWays(shown, isOpen);
  return writePage({
    title: `Book – ${siteTitle} – ${hostname}`,
    layout: 'card',
    brand: hostname,
    style: `${style}${colorStyle(colors)}`,
    ...(isOpen ? { modules: [widgetPath] } : {}),
    ...(isOpen && challengeOrigin ? { loads: [challengeOrigin] } : {}),
    main: html`<div>
<h1>${siteTitle}</h1>
<p class="lead">Book online · <a href="${address}/">${hostname}</a></p>
</div>
${isOpen ? html`<frontage-booking site="${publicId}">${other}</frontage-booking>` : other}`,
  });
}

/** What can be booked, and how without this page. */
function otherWays({ hostname, address, services, fallback }: BookingPageShown, isOpen: boolean): Html {
  return html`<div class="other">
${isOpen ? html`<noscript><p class="fault">Booking on this page needs JavaScript, which is turned off in this browser.</p></noscript>` : null}
<div class="panel"><h2>${isOpen ? 'Book in another way' : 'Nothing can be booked here at the moment'}</h2>
<p>${fallback ? linesHtml(fallback) : html`The website shows how to reach its owner: <a href="${address}/">${hostname}</a>`}</p></div>
<ul class="rows">${services.map((service) => html`\n<li>${serviceHtml(service)}</li>`)}
</ul></div>`;
}

function serviceHtml({ name, duration_minutes: minutes, price, place }: OfferedService): Html {
  const cost = price === null ? 'free of charge' : `${written(price)}${price.per === 'seat' ? ' per seat' : ''}`;
  const facts = [durationOf(minutes), cost, ...(place ? [place] : [])];
  return html`<div><strong>${name}</strong><small>${facts.join(' · ')}</small></div>`;
}

function durationOf(minutes: number): string {
  const parts = [
    [Math.floor(minutes / 60), 'hour'],
    [minutes % 60, 'minute'],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(count))
    .join(' ');
}
