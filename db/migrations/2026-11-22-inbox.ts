import { Migration } from '@mikro-orm/migrations';

/** Notifications for requests that wait on `GET /v1/inbox`. */
export class Inbox extends Migration {
  override up(): void {
    this.addSql(`
      -- The topic is the id of a site or an account. Rows only say where to look, so losing them in a crash is harmless.
      create unlogged table inbox_news (
        id bigint generated always as identity primary key,
        topic text not null,
        changed_xid xid8 not null default pg_current_xact_id()
      );
      create index on inbox_news (changed_xid);

      create function tell_inbox(topic text) returns void language plpgsql as $$
      begin
        insert into inbox_news (topic) values (topic);
        perform pg_notify('inbox_changed', topic);
      end $$;

      -- For tables with a site_id.
      create function inbox_changed() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(new.site_id);
        return null;
      end $$;

      -- For tables with an account_id.
      create function account_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(new.account_id);
        return null;
      end $$;
    `);
  }
}
