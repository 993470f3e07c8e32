/** A calendar of five weeks whose days with free times are links. It needs no script. */
import { readFileSync } from 'node:fs';
import { dateOf, dayOf } from '#rules/bookings/dates.ts';
import { type Html, html } from '#web/html.ts';

/** For the styles of a page with such a calendar. */
export const freeDaysStyle = readFileSync(new URL('./free-days.css', import.meta.url), 'utf8');

/** Dates are `YYYY-MM-DD`. */
export type FreeDays = {
  /** Days with free times. */
  days: readonly { date: string; open_slots: number }[];
  /** The Monday of the first week. */
  first: string;
  today: string;
  /** The first days of the weeks before, if they are not past, and of those after. */
  earlier: string | null;
  later: string;
};

const weeks = [0, 1, 2, 3, 4];
const weekDays = [0, 1, 2, 3, 4, 5, 6];
const part = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
  return (date: string) => format.format(new Date(`${date}T00:00:00Z`));
};
const [weekday, weekdayShort] = [part({ weekday: 'long' }), part({ weekday: 'short' })];
const [month, monthShort, number] = [part({ month: 'long' }), part({ month: 'short' }), part({ day: 'numeric' })];

/** `path`: of the page, which takes `date` and `from`. */
export function freeDaysHtml(path: string, shown: FreeDays, chosen: string | null): Html {
  const { first, today, earlier, later, days } = shown;
  const dates = weeks.map((week) => weekDays.map((at) => dateOf((dayOf(first) ?? 0) + week * 7 + at)));
  const [columns = []] = dates;
  return html`<section><h2>Days with free times</h2>
${days.length === 0 ? html`<p class="empty">No time is free in these five weeks.</p>` : null}
<table class="days"><thead><tr>${columns.map((date) => html`<th scope="col"><abbr title="${weekday(date)}">${weekdayShort(date)}</abbr></th>`)}</tr></thead>
<tbody>${dates.map((week) => html`<tr>${week.map((date) => cell(path, shown, { date, isFirst: date === first || date === today, isChosen: date === chosen }))}</tr>`)}</tbody></table>
<p class="day-pages">${earlier === null ? null : html`<a href="${path}?from=${earlier}">Earlier days</a>`}<a href="${path}?from=${later}">Later days</a></p></section>`;
}

type Cell = { date: string; isFirst: boolean; isChosen: boolean };

/** Reads as "Tuesday 1 December, 8 free times". */
function cell(path: string, { days, today }: FreeDays, { date, isFirst, isChosen }: Cell): Html {
  if (date < today) return html`<td></td>`;
  const count = days.find((day) => day.date === date)?.open_slots ?? 0;
  const day = html`<b>${number(date)}</b>${isFirst || number(date) === '1' ? html`<i aria-hidden="true">${monthShort(date)}</i>` : null}`;
  if (count === 0) return html`<td><span>${day}</span></td>`;
  const times = html`<small>${count} free<span class="unseen"> ${count === 1 ? 'time' : 'times'}</span></small>`;
  return html`<td><a href="${path}?date=${date}"${isChosen ? html` aria-current="date"` : null}><span class="unseen">${weekday(date)} </span>${day}<span class="unseen"> ${month(date)}, </span>${times}</a></td>`;
}
