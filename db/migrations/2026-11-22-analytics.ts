import { Migration } from '@mikro-orm/migrations';

/** Page views of live sites: hourly counts of the edges, and daily and monthly totals. */
export class Analytics extends Migration {
  override up(): void {
    this.addSql(`
      -- Each edge process writes its own rows with its count of the hour so far, so a row may be updated.
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

      -- The daily salt of visitor hashes. Unlogged, so that the write-ahead log never contains it; a crash counts some visitors twice.
      create unlogged table visitor_salt (day date primary key, salt bytea not null);
    `);
  }
}
