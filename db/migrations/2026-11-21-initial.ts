import { Migration } from '@mikro-orm/migrations';

/** Accounts, tokens, sites, deployments, git credentials, the outbox, and the API's own memory. */
export class Initial extends Migration {
  override up(): void {
    this.addSql(`
      create table account (
        id text primary key,
        name text not null,
        email text not null unique check (email = lower(email)),
        created_at timestamptz not null
      );

      create table token (
        id text primary key,
        account_id text not null references account,
        name text not null,
        hash bytea not null unique,
        last_four text not null,
        created_at timestamptz not null,
        last_used_at timestamptz,
        expires_at timestamptz,
        revoked_at timestamptz
      );
      create index on token (account_id, id desc);

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
        -- The transaction that last changed what visitors see: edges ask for all above the oldest one they may have missed.
        changed_xid xid8 not null default pg_current_xact_id(),
        check (live_ticket <= last_ticket),
        check ((status = 'archived') = (archived_at is not null))
      );
      create index on site (account_id, id desc);
      create index on site (changed_xid);

      create table deployment (
        id text primary key,
        site_id text not null references site,
        number integer not null,
        kind text not null check (kind in ('site', 'posts', 'upload', 'preview')),
        status text not null check (status in
          ('uploading', 'queued', 'building', 'storing', 'ready', 'live', 'retired', 'superseded', 'failed', 'cancelled')),
        ticket integer not null,
        source_commit text,
        content_commit text,
        image text,
        site_url text not null,
        superseded_by_id text references deployment,
        manifest_sha256 text,
        file_count integer,
        total_bytes bigint,
        error jsonb,
        created_by_id text not null references account,
        created_at timestamptz not null,
        started_at timestamptz,
        finished_at timestamptz,
        live_at timestamptz,
        unique (site_id, number),
        check (status not in ('ready', 'live', 'retired') or manifest_sha256 is not null),
        check ((status = 'failed') = (error is not null))
      );
      create index on deployment (site_id, id desc);
      create index deployment_waiting on deployment (site_id, ticket) where status = 'queued';
      create unique index deployment_one_live on deployment (site_id) where status = 'live';
      create unique index deployment_one_build on deployment (site_id) where status in ('building', 'storing') and kind in ('site', 'posts');
      create index deployment_unfinished on deployment (created_at) where status in ('queued', 'building', 'storing');
      alter table site add foreign key (live_deployment_id) references deployment;

      create table build_log (
        deployment_id text not null references deployment,
        seq integer not null,
        text text not null,
        primary key (deployment_id, seq)
      );

      create table git_credential (
        id text primary key,
        site_id text not null references site,
        account_id text not null references account,
        repository text not null check (repository in ('source', 'content')),
        access text not null check (access in ('read', 'write')),
        username text not null unique,
        hash bytea not null,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index on git_credential (expires_at);

      create table outbox (
        id text primary key,
        kind text not null check (kind in ('start', 'signal', 'cancel')),
        workflow_id text not null,
        message jsonb not null,
        created_at timestamptz not null,
        sent_at timestamptz,
        attempts integer not null default 0,
        last_error text
      );
      create index outbox_unsent on outbox (id) where sent_at is null;
      create index outbox_sent on outbox (sent_at) where sent_at is not null;

      create table idempotency_key (
        scope bytea primary key,
        body_hash bytea not null,
        reserved_id text not null,
        resource_id text,
        sealed bytea,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index on idempotency_key (expires_at);

      -- Counters may be lost in a crash: a limit that starts anew is better than a write that waits for the disk.
      create unlogged table rate_limit (
        key text primary key,
        hits integer not null,
        resets_at timestamptz not null
      );
      create index on rate_limit (resets_at);

      create function site_changed() returns trigger language plpgsql as $$
      begin
        new.changed_xid := pg_current_xact_id();
        perform pg_notify('site_changed', new.id);
        return new;
      end $$;
      create trigger site_changed before insert or update of name, status, live_deployment_id on site
        for each row execute function site_changed();

      create function deployment_changed() returns trigger language plpgsql as $$
      begin
        perform pg_notify('deployment_changed', new.id);
        return null;
      end $$;
      create function outbox_added() returns trigger language plpgsql as $$
      begin
        perform pg_notify('outbox_added', '');
        return null;
      end $$;
      create trigger outbox_added after insert on outbox for each statement execute function outbox_added();

      create trigger deployment_changed after insert or update of status on deployment
        for each row execute function deployment_changed();
    `);
  }
}
