/** Queries of the page view counter: saving rows, and a day's salt. */
import type pg from 'pg';
import { openPool } from '#edge/db-pool.ts';
import type { ViewRow } from './counters.ts';

export type ViewsDatabase = {
  /** Saves counts of this process, replacing earlier rows. */
  write(rows: ViewRow[]): Promise<void>;
  /** The salt of the day: the offered one, unless another process was first. */
  saltOf(day: string, offered: Buffer): Promise<Buffer>;
  close(): Promise<void>;
};

// Joins sites, so that a missing one (after the database was restored) does not fail the others. The order prevents deadlocks between
// processes.
const writeSql = `
  insert into view_hour (site_id, hour, writer, views, sketch, pages, referrers, countries, devices)
  select row.site_id, row.hour, $2, row.views, decode(row.sketch, 'base64'), row.pages, row.referrers, row.countries, row.devices
  from jsonb_to_recordset($1::jsonb) as row(site_id text, hour timestamptz, views integer, sketch text,
    pages jsonb, referrers jsonb, countries jsonb, devices jsonb)
  join site on site.id = row.site_id
  order by row.site_id, row.hour
  on conflict (site_id, hour, writer) do update set views = excluded.views, sketch = excluded.sketch, pages = excluded.pages,
    referrers = excluded.referrers, countries = excluded.countries, devices = excluded.devices, is_rolled = false`;

const saltSql = `
  insert into visitor_salt (day, salt) values ($1, $2) on conflict (day) do update set day = excluded.day returning salt`;

const queryTimeoutMs = 10_000;

/** `writer` is unique to this process. */
export function openViewsDatabase(databaseUrl: string, writer: string): ViewsDatabase {
  const pool = openPool(databaseUrl);
  const ask = (text: string, values: unknown[]) =>
    pool.query({ text, values, query_timeout: queryTimeoutMs } as pg.QueryConfig);
  return {
    async write(rows) {
      await ask(writeSql, [JSON.stringify(rows), writer]);
    },
    async saltOf(day, offered) {
      return (await ask(saltSql, [day, offered])).rows[0].salt;
    },
    close: () => pool.end(),
  };
}
