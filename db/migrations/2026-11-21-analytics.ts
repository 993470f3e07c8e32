import { Migration } from '@mikro-orm/migrations';

/** Page views of live sites: by the hour as edges counted them, and rolled up to days and months. */
export class Analytics extends Migration {
  override up(): void {
    this.addSql(`
      -- Each edge process writes rows of its own with what it has counted so far in that hour: a row may be written again.
      create table view_hour (
        site_id text not null references site,
        hour timestamptz not null,
        writer text not null,
        views integer not null check (views >= 0),
        sketch bytea not null,
        pages jsonb not null,
        referrers jsonb not null,
        countries jsonb not null,
        devices jsonb not null,
        is_rolled boolean not null default false,
        primary key (site_id, hour, writer)
      );
      create index on view_hour (hour);
      create index view_hour_unrolled on view_hour (hour) where not is_rolled;

      create table view_total (
        site_id text not null references site,
        unit text not null check (unit in ('day', 'month')),
        start date not null,
        views integer not null,
        visitors integer not null,
        pages jsonb not null,
        referrers jsonb not null,
        countries jsonb not null,
        devices jsonb not null,
        primary key (site_id, unit, start),
        check (unit = 'day' or start = date_trunc('month', start::timestamp)::date)
      );
      create index on view_total (start) where unit = 'day';

      -- What makes a visitor's hash of a day. Not logged, so that no copy of the log outlives it; lost in a crash, which counts some twice.
      create unlogged table visitor_salt (day date primary key, salt bytea not null);
    `);
  }
}
