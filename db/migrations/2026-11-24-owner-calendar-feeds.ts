import { Migration } from '@mikro-orm/migrations';

/** Secret addresses at which calendar programs read the bookings of a site. */
export class CalendarFeeds extends Migration {
  override up(): void {
    this.addSql(`
      create table calendar_feed (
        id text primary key,
        site_id text not null references site,
        account_id text not null references account,
        hash bytea not null unique,
        -- The token that made it, with which it ends.
        made_by text,
        created_at timestamptz not null,
        expires_at timestamptz,
        ended_at timestamptz
      );
      create index on calendar_feed (site_id, id desc);
      create index on calendar_feed (account_id) where ended_at is null;
      create index on calendar_feed (made_by) where made_by is not null;
    `);
  }
}
