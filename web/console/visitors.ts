/** Visits of the last 7 or 30 days: a chart, its table, and where visitors came from. */
import { type Html, html } from '#web/html.ts';
import type { WrittenPage } from '#web/page.ts';
import { type SiteFrame, sitePage } from './frame.ts';
import { choices } from './parts.ts';
import { sitePath } from './tabs.ts';

type Count = { views: number };
/** Periods that the page offers, in days; the first is shown unless another is asked for. */
export const visitorDays = [30, 7] as const;
export type VisitorDays = (typeof visitorDays)[number];

/** The page, or its file with `.csv`, of so many days. */
export const visitorsPath = (siteId: string, days: VisitorDays, ending: '' | '.csv' = ''): string =>
  `${sitePath(siteId, 'visitors')}${ending}?days=${days}`;

export type VisitorsPage = {
  visitors: number;
  views: number;
  /** Oldest first. */
  series: { at: string; visitors: number; views: number }[];
  pages: (Count & { path: string })[];
  referrers: (Count & { host: string })[];
  countries?: (Count & { country: string })[];
  devices: (Count & { device: string })[];
};

const shownMax = 10;
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

export function visitorsPage(frame: SiteFrame, page: VisitorsPage, days: VisitorDays): WrittenPage {
  const { views, visitors } = page;
  const { id } = frame.site;
  const content =
    views === 0
      ? html`<p class="panel empty">No visits in the last ${days} days.</p>`
      : html`<section class="panel"><p class="big">${number(visitors)} ${visitors === 1 ? 'visitor' : 'visitors'}, ${number(views)} page ${views === 1 ? 'view' : 'views'}</p>
${chart(page.series)}
${seriesTable(page.series)}
<p><a href="${visitorsPath(id, days, '.csv')}" download>Download as CSV</a> <small>Visitors and views of these ${days} days, by day.</small></p></section>
${rankings(page)}`;
  const main = html`<div class="head"><h1>Visitors</h1>
<p class="lead">The last ${days} days. Programs that open your pages, such as search engines and agents, are not counted. Days begin at midnight UTC.</p></div>
${choices(
  'Period',
  visitorDays.toReversed().map((one) => ({
    href: visitorsPath(id, one),
    words: `Last ${one} days`,
    current: one === days,
  })),
)}
${content}
<p class="hint">Visits are counted without cookies, and we do not store who the visitors are. A person who returns on another day counts again.</p>`;
  return sitePage(frame, 'visitors', { title: 'Visitors', main });
}

function rankings({ views, pages, referrers, devices, countries }: VisitorsPage): Html {
  const columns: [title: string, rows: [name: string, views: number][]][] = [
    ['Pages', pages.map((one) => [one.path, one.views])],
    ['Came from', referrers.map((one) => [one.host, one.views])],
    ['Devices', devices.map((one) => [deviceNames[one.device] ?? one.device, one.views])],
  ];
  if (countries) columns.push(['Countries', countries.map((one) => [countryName(one.country), one.views])]);
  return html`<div class="columns">${columns.map(([title, rows]) => ranking(title, rows, views))}</div>`;
}

const number = (value: number) => new Intl.NumberFormat('en').format(value);
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });
const deviceNames: Readonly<Record<string, string>> = { desktop: 'Computer', mobile: 'Phone', tablet: 'Tablet' };
const countryName = (code: string) => (/^[A-Z]{2}$/.test(code) ? (names.of(code) ?? code) : code);

/** Bars of page views, with the highest named: readable without colour. The table has all numbers. */
export function chart(series: VisitorsPage['series']): Html {
  const most = Math.max(1, ...series.map(({ views }) => views));
  const [width, height] = [series.length * 20, 120];
  const bars = series.map(({ at, views }, index) => {
    const tall = Math.max(views > 0 ? 2 : 0.5, (views / most) * height);
    return html`<rect x="${index * 20 + 3}" y="${(height - tall).toFixed(1)}" width="14" height="${tall.toFixed(1)}" rx="2"><title>${day.format(new Date(at))}: ${views} ${views === 1 ? 'view' : 'views'}</title></rect>`;
  });
  const [first, last] = [series.at(0), series.at(-1)];
  return html`<figure class="chart"><svg viewBox="0 0 ${width} ${height + 1}" role="img" aria-label="Page views by day; at most ${number(most)} in a day" preserveAspectRatio="none"><path class="base" d="M0 ${height + 0.5}H${width}"/>${bars}</svg>
<figcaption><span>${first ? day.format(new Date(first.at)) : ''}</span><span>at most ${number(most)} a day</span><span>${last ? day.format(new Date(last.at)) : ''}</span></figcaption></figure>`;
}

function seriesTable(series: VisitorsPage['series']): Html {
  const rows = series
    .toReversed()
    .map(
      ({ at, visitors, views }) =>
        html`<tr><th scope="row">${day.format(new Date(at))}</th><td>${number(visitors)}</td><td>${number(views)}</td></tr>`,
    );
  return html`<details><summary>Numbers by day</summary>
<table><thead><tr><th scope="col">Day</th><th scope="col">Visitors</th><th scope="col">Views</th></tr></thead><tbody>${rows}</tbody></table></details>`;
}

function ranking(title: string, rows: (readonly [name: string, views: number])[], all: number): Html {
  const shown = rows
    .slice(0, shownMax)
    .map(
      ([name, views]) =>
        html`<tr><th scope="row">${name}</th><td>${number(views)}</td><td>${Math.round((views / all) * 100)}%</td></tr>`,
    );
  const table = html`<table><thead><tr><th scope="col">${title}</th><th scope="col">Views</th><th scope="col">Share</th></tr></thead><tbody>${shown}</tbody></table>`;
  return html`<section class="panel"><h2>${title}</h2>${rows.length === 0 ? html`<p class="empty">Nothing yet.</p>` : table}</section>`;
}

/** The days as CSV (RFC 4180). */
export function visitorsCsv({ series }: Pick<VisitorsPage, 'series'>): string {
  const rows = series.map(({ at, visitors, views }) => `${at.slice(0, 10)},${visitors},${views}`);
  return ['day,visitors,views', ...rows, ''].join('\r\n');
}
