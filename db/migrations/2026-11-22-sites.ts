import { Migration } from '@mikro-orm/migrations';

/** Sites, and the block state that they copy from their account. */
export class Sites extends Migration {
  override up(): void {
    this.addSql(`
      create table site (
        id text primary key,
        account_id text not null references account,
        name text not null unique,
        title text not null,
        template text not null,
        status text not null check (status in ('active', 'archived')),
        public_id text not null unique,
        live_deployment_id text,
        live_ticket integer not null default 0,
        last_ticket integer not null default 0,
        last_number integer not null default 0,
        created_at timestamptz not null,
        archived_at timestamptz,
        -- The last transaction that changed what visitors see. Edges query everything above the oldest one they may have missed.
        changed_xid xid8 not null default pg_current_xact_id(),
        -- The redirect rules that the owner set: a blob in the store, like a manifest.
        redirects_sha256 text,
        blocked_at timestamptz,
        block_reason text,
        -- A copy of the account's blocked_at, so that edges see it as a change of the site.
        owner_blocked_at timestamptz,
        check (live_ticket <= last_ticket),
        check ((status = 'archived') = (archived_at is not null)),
        check ((blocked_at is null) = (block_reason is null))
      );
      create index on site (account_id, id desc);
      create index on site (changed_xid);

      create function site_changed() returns trigger language plpgsql as $$
      begin
        new.changed_xid := pg_current_xact_id();
        perform pg_notify('site_changed', new.id);
        return new;
      end $$;
      create trigger site_changed
        before insert or update of name, status, live_deployment_id, redirects_sha256, blocked_at, owner_blocked_at on site
        for each row execute function site_changed();

      create trigger site_inbox after insert on site
        for each row execute function account_inbox();
      create function site_blocked_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(new.account_id);
        return null;
      end $$;
      create trigger site_blocked_inbox after update of blocked_at on site
        for each row when (new.blocked_at is not null) execute function site_blocked_inbox();

      create function account_blocked() returns trigger language plpgsql as $$
      begin
        update site set owner_blocked_at = new.blocked_at where account_id = new.id;
        return null;
      end $$;
      create trigger account_blocked after update of blocked_at on account
        for each row when (old.blocked_at is distinct from new.blocked_at) execute function account_blocked();

      -- The lock makes a new site and a concurrent block of its account see each other.
      create function site_of_blocked_account() returns trigger language plpgsql as $$
      begin
        select blocked_at into new.owner_blocked_at from account where id = new.account_id for share;
        return new;
      end $$;
      create trigger site_of_blocked_account before insert on site
        for each row execute function site_of_blocked_account();
    `);
  }
}
