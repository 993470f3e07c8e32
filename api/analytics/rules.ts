/** A site's visits in a period: a series without gaps, and the top pages, referrers, countries and devices. */

import { dayOf, hourOf, later, monthOf } from '#db/analytics/calendar.ts';
import { addCounts, type Dimension, newTallied, ranked, type Tallied } from '#db/analytics/counts.ts';
import { countOf } from '#db/analytics/hyperloglog.ts';
import {
  type HourRow,
  readHours,
  readTotals,
  sketchesBy,
  sketchesByDay,
  type TotalRow,
} from '#db/analytics/queries.ts';
import type { EntityManager } from '#db/orm.ts';
import { dayMs, hourMs } from '#rules/time.ts';

export const periods = ['24h', '7d', '30d', '12mo'] as const;
export type Period = (typeof periods)[number];

export type Bucket = { at: Date; views: number; visitors: number };
export type Most = { key: string; views: number };
export type Report = {
  period: Period;
  views: number;
  visitors: number;
  series: Bucket[];
} & Record<Dimension, Most[]>;

/** How many of each are listed, besides the sum of the rest. */
const shownMax = 50;

/** The period that ends with the current hour, day or month, which is incomplete. */
export async function readReport(em: EntityManager, siteId: string, period: Period, now: Date): Promise<Report> {
  return period === '24h' ? await readDay(em, siteId, now) : await readDays(em, siteId, period, now);
}

/** By the hour. */
async function readDay(em: EntityManager, siteId: string, now: Date): Promise<Report> {
  const starts = startsOf('24h', now);
  const hours = await readHours(em, siteId, starts[0] as Date);
  const series = emptySeries(starts);
  const byHour = sketchesBy(hours, (start) => start.getTime());
  for (const { start, views } of hours) addTo(series, start.getTime(), { views });
  for (const [at, sketch] of byHour) addTo(series, at, { visitors: countOf(sketch) });
  // Not the sum of the hours: a visitor of two hours in a day is one visitor.
  return reportOf('24h', series, hours, visitorsOf(hours));
}

/** The start of each hour, day or month of the period, oldest first. */
function startsOf(period: Period, now: Date): Date[] {
  const count = { '24h': 24, '7d': 7, '30d': 30, '12mo': 12 }[period];
  return Array.from({ length: count }, (_, n) => {
    const back = n + 1 - count;
    if (period === '12mo') return monthOf(now, back);
    return period === '24h' ? later(hourOf(now), back * hourMs) : later(dayOf(now), back * dayMs);
  });
}

/** By the day or the month: visitors are counted per day, since a visitor cannot be recognised on another day. */
async function readDays(em: EntityManager, siteId: string, period: Exclude<Period, '24h'>, now: Date): Promise<Report> {
  const byMonth = period === '12mo';
  const starts = startsOf(period, now);
  const { totals, hours } = await readTotals(em, siteId, starts[0] as Date, { months: byMonth });
  const bucketOf = (at: Date) => (byMonth ? monthOf(at) : dayOf(at)).getTime();
  const series = emptySeries(starts);
  for (const { start, views, visitors } of totals) addTo(series, bucketOf(start), { views, visitors });
  for (const { start, views } of hours) addTo(series, bucketOf(start), { views });
  for (const [day, sketch] of sketchesByDay(hours))
    addTo(series, bucketOf(new Date(day)), { visitors: countOf(sketch) });
  const buckets = [...series.values()];
  return reportOf(
    period,
    series,
    [...totals, ...hours],
    buckets.reduce((sum, { visitors }) => sum + visitors, 0),
  );
}

function visitorsOf(hours: readonly HourRow[]): number {
  return [...sketchesByDay(hours).values()].reduce((sum, sketch) => sum + countOf(sketch), 0);
}

type Series = Map<number, Bucket>;

function emptySeries(starts: readonly Date[]): Series {
  return new Map(starts.map((at) => [at.getTime(), { at, views: 0, visitors: 0 }]));
}

/** Rows outside the period are skipped: a clock that was set back leaves rows in the future. */
function addTo(series: Series, at: number, more: { views?: number; visitors?: number }): void {
  const bucket = series.get(at);
  if (!bucket) return;
  bucket.views += more.views ?? 0;
  bucket.visitors += more.visitors ?? 0;
}

function reportOf(period: Period, series: Series, rows: readonly (HourRow | TotalRow)[], visitors: number): Report {
  const tallied: Tallied = newTallied();
  for (const row of rows) addCounts(tallied, row);
  const most = (dimension: Dimension) => ranked(tallied[dimension], shownMax).map(([key, views]) => ({ key, views }));
  const buckets = [...series.values()];
  return {
    period,
    views: buckets.reduce((sum, { views }) => sum + views, 0),
    visitors,
    series: buckets,
    pages: most('pages'),
    referrers: most('referrers'),
    countries: most('countries'),
    devices: most('devices'),
  };
}
