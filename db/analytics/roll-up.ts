/**
 * Rolls up hours into days and days into months, so that a year is a few rows. Each step is idempotent: it reads the
 * rows, writes the whole total, and deletes only rows that a total includes.
 */
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import { dateText, dayOf, later, monthOf } from './calendar.ts';
import { addCounts, newTallied, rowOf, type Tallied } from './counts.ts';
import { countOf } from './hyperloglog.ts';
import { countColumns, countsIn, hourColumns, hourRow, type RawRow, sketchesByDay } from './queries.ts';

/** Number of past days whose hours are stored, so that late writes of edges are counted. */
export const hoursKeptDays = 2;
/** Days that are stored in addition to their month. */
const daysKeptDays = 100;
const batch = 500;

export type Rolled = { days: number; months: number; deleted: number };
type Place = { site_id: string; start: string };

/** Rolls up past days and months. `heartbeat` is called with each site. */
export async function rollUpViews(
  em: () => EntityManager,
  now: Date,
  heartbeat: (siteId: string) => void,
): Promise<Rolled> {
  const rolled: Rolled = { days: 0, months: 0, deleted: 0 };
  for (let places = await unrolledDays(em(), now); places.length > 0; places = await unrolledDays(em(), now)) {
    for (const { site_id, start } of places) {
      heartbeat(site_id);
      if (await rollUpDay(em(), site_id, new Date(start), now)) rolled.days += 1;
    }
  }
  for (let places = await unrolledMonths(em(), now); places.length > 0; places = await unrolledMonths(em(), now)) {
    for (const { site_id, start } of places) {
      heartbeat(site_id);
      await rollUpMonth(em(), site_id, new Date(start));
      rolled.months += 1;
    }
  }
  rolled.deleted = await deleteRolled(em(), now);
  return rolled;
}

async function unrolledDays(em: EntityManager, now: Date): Promise<Place[]> {
  return await em.execute(
    `select distinct site_id, (hour at time zone 'UTC')::date::text as start from view_hour
     where not is_rolled and hour < ? limit ${batch}`,
    [dayOf(now)],
  );
}

/** False if the day's other hours are already deleted: such late counts are dropped. */
async function rollUpDay(em: EntityManager, siteId: string, day: Date, now: Date): Promise<boolean> {
  return await em.transactional(async (tx) => {
    const raw: RawRow[] = await tx.execute(
      `update view_hour set is_rolled = true where site_id = ? and hour >= ? and hour < ? returning ${hourColumns}`,
      [siteId, day, later(day, dayMs)],
    );
    if (day < keptFrom(now) && (await hasTotal(tx, siteId, day))) return false;
    const rows = raw.map(hourRow);
    const tallied = newTallied();
    for (const row of rows) addCounts(tallied, row);
    const sketch = sketchesByDay(rows).get(day.getTime());
    await writeTotal(tx, {
      siteId,
      unit: 'day',
      start: day,
      views: rows.reduce((sum, { views }) => sum + views, 0),
      visitors: sketch ? countOf(sketch) : 0,
      tallied,
    });
    return true;
  });
}

async function hasTotal(tx: EntityManager, siteId: string, day: Date): Promise<boolean> {
  const rows = await tx.execute(`select 1 from view_total where site_id = ? and unit = 'day' and start = ?`, [
    siteId,
    dateText(day),
  ]);
  return rows.length > 0;
}

/** Months whose days no longer change. */
async function unrolledMonths(em: EntityManager, now: Date): Promise<Place[]> {
  return await em.execute(
    `select distinct site_id, date_trunc('month', start::timestamp)::date::text as start from view_total total
     where unit = 'day' and start < ? and not exists (
       select 1 from view_total month where month.site_id = total.site_id and month.unit = 'month'
         and month.start = date_trunc('month', total.start::timestamp)::date) limit ${batch}`,
    [dateText(monthOf(keptFrom(now)))],
  );
}

async function rollUpMonth(em: EntityManager, siteId: string, month: Date): Promise<void> {
  await em.transactional(async (tx) => {
    const rows: RawRow[] = await tx.execute(
      `select visitors, ${countColumns} from view_total where site_id = ? and unit = 'day' and start >= ? and start < ?`,
      [siteId, dateText(month), dateText(monthOf(month, 1))],
    );
    const tallied = newTallied();
    for (const row of rows) addCounts(tallied, countsIn(row));
    const sum = (of: 'views' | 'visitors') => rows.reduce((total, row) => total + row[of], 0);
    await writeTotal(tx, {
      siteId,
      unit: 'month',
      start: month,
      views: sum('views'),
      visitors: sum('visitors'),
      tallied,
    });
  });
}

type Total = { siteId: string; unit: 'day' | 'month'; start: Date; views: number; visitors: number; tallied: Tallied };

async function writeTotal(tx: EntityManager, { siteId, unit, start, views, visitors, tallied }: Total): Promise<void> {
  const { pages, referrers, countries, devices } = rowOf(tallied);
  await tx.execute(
    `insert into view_total (site_id, unit, start, views, visitors, pages, referrers, countries, devices)
     values (?, ?, ?, ?, ?, ?::jsonb, ?::jsonb, ?::jsonb, ?::jsonb)
     on conflict (site_id, unit, start) do update set views = excluded.views, visitors = excluded.visitors, pages = excluded.pages,
       referrers = excluded.referrers, countries = excluded.countries, devices = excluded.devices`,
    [
      siteId,
      unit,
      dateText(start),
      views,
      visitors,
      ...[pages, referrers, countries, devices].map((counts) => JSON.stringify(counts)),
    ],
  );
}

function keptFrom(now: Date): Date {
  return later(dayOf(now), -hoursKeptDays * dayMs);
}

/**
 * Deletes hours that totals include, and the salts of past days: without these, a hash cannot be linked to a visitor.
 */
async function deleteRolled(em: EntityManager, now: Date): Promise<number> {
  const deletions: [sql: string, before: Date | string][] = [
    ['delete from view_hour where is_rolled and hour < ? returning 1', keptFrom(now)],
    [
      `delete from view_total day where unit = 'day' and start < ? and exists (
         select 1 from view_total month where month.site_id = day.site_id and month.unit = 'month'
           and month.start = date_trunc('month', day.start::timestamp)::date) returning 1`,
      dateText(later(dayOf(now), -daysKeptDays * dayMs)),
    ],
    ['delete from visitor_salt where day < ? returning 1', dateText(now)],
  ];
  let deleted = 0;
  for (const [sql, before] of deletions) deleted += (await em.execute<unknown[]>(sql, [before])).length;
  return deleted;
}
