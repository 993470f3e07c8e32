import { Migration } from '@mikro-orm/migrations';

/** The outbox, idempotency keys and rate limits. */
export class Platform extends Migration {
  override up(): void {
    this.addSql(`
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
      create function outbox_added() returns trigger language plpgsql as $$
      begin
        perform pg_notify('outbox_added', '');
        return null;
      end $$;
      create trigger outbox_added after insert on outbox for each statement execute function outbox_added();

      create table idempotency_key (
        scope bytea primary key,
        body_hash bytea not null,
        reserved_id text not null,
        resource_id text,
        sealed bytea,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        -- A fencing token: a request whose lease was taken over can no longer write.
        lease integer not null default 1
      );
      create index on idempotency_key (expires_at);

      -- Unlogged: resetting a limit after a crash is cheaper than a disk write on each request.
      create unlogged table rate_limit (
        key text primary key,
        hits integer not null,
        resets_at timestamptz not null
      );
      create index on rate_limit (resets_at);
    `);
  }
}
