/** The bookings of a site: those to come, a week, and a list of all. */
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import {
  type BookingShown,
  briefDay,
  calendarName,
  clock,
  dateWords,
  daysWords,
  serviceName,
  span,
  statusWords,
  type TimetableShown,
  whoComes,
} from './booking-words.ts';
import { type SiteFrame, sitePage } from './frame.ts';
import { ago, button, choices, olderLink } from './parts.ts';
import { sitePath } from './tabs.ts';

export type FeedShown = { id: string; status: 'open' | 'expired' | 'ended'; created_at: string };

export type WeekView = {
  timetable: TimetableShown;
  /** Seven days as `YYYY-MM-DD`, each with its bookings in order. */
  days: readonly { date: string; isToday: boolean; bookings: readonly BookingShown[] }[];
  /** Mondays. */
  previous: string;
  next: string;
  /** Whether the week has more bookings than are shown. */
  isCut: boolean;
  feeds: readonly FeedShown[];
};

export function weekPage(frame: SiteFrame, view: WeekView): WrittenPage {
  const { timetable, days, previous, next, isCut } = view;
  const base = sitePath(frame.site.id, 'bookings');
  const main = html`${head(frame, timetable, 'week')}
<section>
<div class="bar"><h2>${daysWords(days[0]?.date ?? '', days.at(-1)?.date ?? '')}</h2>
<p class="links"><a href="${base}?week=${previous}">Earlier</a> <a href="${base}?week=now">This week</a> <a href="${base}?week=${next}">Later</a></p></div>
${isCut ? html`<p class="hint">Not all bookings of this week fit on the page. <a href="${base}/list">See the list</a></p>` : null}
<ol class="week">${days.map((day) => dayHtml(frame, timetable, day))}</ol>
${zoneHint(timetable)}
</section>
${feedSection(frame, view.feeds)}`;
  return sitePage(frame, 'bookings', { title: 'Bookings', main });
}

export type ComingView = {
  timetable: TimetableShown;
  /** The next one first. */
  bookings: readonly BookingShown[];
  /** Whether there are more. */
  isCut: boolean;
  feeds: readonly FeedShown[];
};

export function comingPage(frame: SiteFrame, { timetable, bookings, isCut, feeds }: ComingView): WrittenPage {
  const all = `${sitePath(frame.site.id, 'bookings')}/list`;
  const main = html`${head(frame, timetable, 'coming')}
<section><h2>To come</h2>
${list(frame, { timetable, bookings }, 'No bookings to come.')}
<p class="hint">${isCut ? 'Not all bookings fit on the page. ' : null}<a href="${all}">See all bookings, also past and cancelled ones</a></p>
</section>
${feedSection(frame, feeds)}`;
  return sitePage(frame, 'bookings', { title: 'Bookings', main });
}

function head({ site }: SiteFrame, { status, url }: TimetableShown, current: 'coming' | 'week' | 'list'): Html {
  const base = sitePath(site.id, 'bookings');
  return html`<div class="bar"><h1>Bookings</h1>
${status === 'open' ? html`<div class="actions"><a class="button small" href="${base}/new">New booking</a><a class="button quiet small" href="${base}/block">Block time</a></div>` : null}</div>
${status === 'ended' ? html`<p class="hint">This site no longer takes bookings. Existing bookings stay valid.</p>` : html`<p class="hint">Visitors book on <a href="${url}" rel="noopener noreferrer">your booking page</a>.</p>`}
${choices('Views', [
  { href: base, words: 'To come', current: current === 'coming' },
  { href: `${base}?week=now`, words: 'Week', current: current === 'week' },
  { href: `${base}/list`, words: 'All', current: current === 'list' },
])}`;
}

function dayHtml(
  frame: SiteFrame,
  timetable: TimetableShown,
  { date, isToday, bookings }: WeekView['days'][number],
): Html {
  return html`<li${isToday ? html` class="today" aria-current="date"` : null}><h3>${isToday ? 'Today' : briefDay(date)}</h3>
${bookings.length === 0 ? html`<p class="empty">–</p>` : html`<ul>${bookings.map((booking) => entry(frame, timetable, booking))}</ul>`}</li>`;
}

function entry(frame: SiteFrame, timetable: TimetableShown, booking: BookingShown): Html {
  const { id, kind, start, end, status } = booking;
  const who = whoComes(booking);
  return html`<li class="${kind} ${status}"><a href="${sitePath(frame.site.id, 'bookings')}/${id}"><strong>${clock(start)}–${clock(end)}</strong> ${serviceName(timetable, booking)}</a>
<small>${who}${timetable.calendars.length > 1 ? html`${who === '' ? '' : ' · '}${calendarName(timetable, booking.calendar)}` : null}</small>
${status === 'held' ? html`<small>${statusWords.held}</small>` : null}</li>`;
}

/** Names the time zone once if all calendars have the same. */
function zoneHint({ calendars }: TimetableShown): Html | null {
  const zones = new Set(calendars.map(({ time_zone: zone }) => zone));
  if (zones.size === 0) return null;
  if (zones.size === 1) return html`<p class="hint">Times are in the time zone ${[...zones][0]}.</p>`;
  return html`<p class="hint">Times are in the time zone of each calendar: ${calendars.map(({ name, time_zone: zone }) => `${name} (${zone})`).join(', ')}.</p>`;
}

export type BookingListView = {
  timetable: TimetableShown;
  bookings: readonly BookingShown[];
  status: BookingShown['status'] | null;
  cursor: string | null;
};

export function bookingListPage(
  frame: SiteFrame,
  { timetable, bookings, status, cursor }: BookingListView,
): WrittenPage {
  const base = `${sitePath(frame.site.id, 'bookings')}/list`;
  const link = (one: string | null) => (one === null ? base : `${base}?status=${one}`);
  const filters = [null, ...(Object.keys(statusWords) as BookingShown['status'][])].map((one) => ({
    href: link(one),
    words: one === null ? 'All' : statusWords[one],
    current: one === status,
  }));
  const main = html`${head(frame, timetable, 'list')}
<section><h2>Newest first</h2>
${choices('Status', filters)}
${list(frame, { timetable, bookings }, 'No bookings.')}
${olderLink(link(status), cursor)}</section>`;
  return sitePage(frame, 'bookings', { title: 'Bookings', main });
}

function list(
  frame: SiteFrame,
  { timetable, bookings }: Pick<BookingListView, 'timetable' | 'bookings'>,
  none: string,
): Html {
  if (bookings.length === 0) return html`<p class="panel empty">${none}</p>`;
  return html`<ul class="rows">${bookings.map((booking) => listRow(frame, timetable, booking))}</ul>${zoneHint(timetable)}`;
}

function listRow(frame: SiteFrame, timetable: TimetableShown, booking: BookingShown): Html {
  const { id, start, status, calendar, reference } = booking;
  return html`<li>
<div><strong><a href="${sitePath(frame.site.id, 'bookings')}/${id}">${dateWords(start)}, ${span(booking)}</a></strong>
<small>${[serviceName(timetable, booking), whoComes(booking), calendarName(timetable, calendar), reference].filter(Boolean).join(' · ')}</small></div>
<small>${statusWords[status]}</small>
</li>`;
}

function feedSection({ form, site, now }: SiteFrame, feeds: readonly FeedShown[]): Html {
  const base = `${sitePath(site.id, 'bookings')}/feeds`;
  const open = feeds.filter(({ status }) => status === 'open');
  return html`<section id="calendar">
<h2>In your own calendar</h2>
<p class="hint">Your calendar program can show these bookings. It reads them from a secret address, which is shown only once.</p>
${
  open.length === 0
    ? null
    : html`<ul class="rows">${open.map(
        ({
          id,
          created_at,
        }) => html`<li><div><strong>Calendar address</strong><small>Created ${ago(created_at, now)}</small></div>
<a class="button quiet small" href="${base}/${id}/end">Revoke</a></li>`,
      )}</ul>`
}
<div class="actions">${button(form, base, 'Create a calendar address')}</div>
</section>`;
}
