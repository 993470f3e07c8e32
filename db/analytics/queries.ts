/** The stored views of a site: hours as written by edges, and the roll-ups by day and month. */
import type { EntityManager } from '#db/orm.ts';
import { dateText, dayOf } from './calendar.ts';
import type { Counts, Dimension } from './counts.ts';
import { countOf, mergeSketch, newSketch, readSketch, type Sketch } from './hyperloglog.ts';

type Viewed = { views: number } & Record<Dimension, Counts>;
/** The counts of one edge process in one hour. */
export type HourRow = Viewed & { start: Date; sketch: Sketch };
/** A day or a month. A visitor counts once per day. */
export type TotalRow = Viewed & { start: Date; visitors: number };

export type RawRow = { start: string; views: number; visitors: number; sketch: Buffer } & Record<Dimension, string>;

/** Columns of all rows, as text, so that parsing does not depend on the driver's types. */
export const countColumns =
  'views, pages::text as pages, referrers::text as referrers, countries::text as countries, devices::text as devices';
export const hourColumns = `extract(epoch from hour)::bigint::text as start, sketch, ${countColumns}`;
const totalColumns = `extract(epoch from start::timestamp)::bigint::text as start, visitors, ${countColumns}`;

export async function readHours(em: EntityManager, siteId: string, from: Date): Promise<HourRow[]> {
  const rows: RawRow[] = await em.execute(`select ${hourColumns} from view_hour where site_id = ? and hour >= ?`, [
    siteId,
    from,
  ]);
  return rows.map(hourRow);
}

/** Covers each moment since `from` exactly once: by a month (if `months` is set), else by a day, else by hours. */
export async function readTotals(
  em: EntityManager,
  siteId: string,
  from: Date,
  { months }: { months: boolean },
): Promise<{ totals: TotalRow[]; hours: HourRow[] }> {
  const totals: RawRow[] = await em.execute(
    `select ${totalColumns} from view_total total where site_id = ? and start >= ?
     and case when ?::boolean then unit = 'month' or not exists (
           select 1 from view_total month where month.site_id = total.site_id and month.unit = 'month'
             and month.start = date_trunc('month', total.start::timestamp)::date)
         else unit = 'day' end`,
    [siteId, dateText(from), months],
  );
  const hours: RawRow[] = await em.execute(
    `select ${hourColumns} from view_hour where site_id = ? and hour >= ? and not exists (
       select 1 from view_total total where total.site_id = view_hour.site_id
         and (total.unit = 'day' and total.start = (hour at time zone 'UTC')::date
           or total.unit = 'month' and total.start = date_trunc('month', hour at time zone 'UTC')::date))`,
    [siteId, from],
  );
  return { totals: totals.map((row) => ({ ...viewed(row), visitors: row.visitors })), hours: hours.map(hourRow) };
}

/** The visitors of these days, in UTC. A visitor counts once per day. */
export async function countVisitors(em: EntityManager, siteId: string, from: Date, until: Date): Promise<number> {
  const { totals, hours } = await readTotals(em, siteId, from, { months: false });
  const isEarlier = ({ start }: { start: Date }) => start < until;
  const unrolled = [...sketchesByDay(hours.filter(isEarlier)).values()].map(countOf);
  const rolled = totals.filter(isEarlier).map(({ visitors }) => visitors);
  return [...unrolled, ...rolled].reduce((sum, visitors) => sum + visitors, 0);
}

export function hourRow(row: RawRow): HourRow {
  return { ...viewed(row), sketch: readSketch(row.sketch) };
}

function viewed({ start, views, ...row }: RawRow): Viewed & { start: Date } {
  return { start: new Date(Number(start) * 1000), views, ...countsIn(row) };
}

/** The counts of a row, which `countColumns` selects as text. */
export function countsIn(row: Record<Dimension, string>): Record<Dimension, Counts> {
  return {
    pages: JSON.parse(row.pages),
    referrers: JSON.parse(row.referrers),
    countries: JSON.parse(row.countries),
    devices: JSON.parse(row.devices),
  };
}

/** The visitors by day. A visitor who appears in several hours, or on several edges, counts once. */
export function sketchesByDay(rows: readonly HourRow[]): Map<number, Sketch> {
  return sketchesBy(rows, (start) => dayOf(start).getTime());
}

export function sketchesBy(rows: readonly HourRow[], key: (start: Date) => number): Map<number, Sketch> {
  const sketches = new Map<number, Sketch>();
  for (const { start, sketch } of rows) {
    const at = key(start);
    const union = sketches.get(at) ?? newSketch();
    mergeSketch(union, sketch);
    sketches.set(at, union);
  }
  return sketches;
}
