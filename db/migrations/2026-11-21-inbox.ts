import { Migration } from '@mikro-orm/migrations';

/** What tells a waiting `GET /v1/inbox` that there may be something new, and finds failed builds quickly. */
export class Inbox extends Migration {
  override up(): void {
    this.addSql(`
      create index deployment_failed on deployment (site_id, ticket desc) where status = 'failed';

      -- Whom something concerns: a site's id, or an account's. It only says where to look, so it may be lost in a crash.
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
      create trigger deployment_inbox after update of status on deployment
        for each row when (new.status = 'failed') execute function inbox_changed();

      create function invitation_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(account.id) from account where account.email = new.email;
        return null;
      end $$;
      create trigger invitation_inbox after insert on invitation
        for each row execute function invitation_inbox();

      -- What waits on a site waits for its new collaborator as well, and who has a new site hears of it from then on.
      create function account_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(new.account_id);
        return null;
      end $$;
      create trigger collaborator_inbox after insert on collaborator
        for each row execute function account_inbox();
      create trigger site_inbox after insert on site
        for each row execute function account_inbox();
    `);
  }
}
