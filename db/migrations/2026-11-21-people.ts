import { Migration } from '@mikro-orm/migrations';

/** Agents' requests for access, browser sign-in and changes of address. */
export class People extends Migration {
  override up(): void {
    this.addSql(`
      create table access_request (
        id text primary key,
        email text not null check (email = lower(email)),
        account_id text references account,
        agent_name text not null,
        account_name text,
        asked_from text not null,
        code_hash bytea not null,
        secret_hash bytea not null unique,
        link_hash bytea not null unique,
        status text not null check (status in ('pending', 'approved', 'denied', 'redeemed', 'expired')),
        wrong_codes integer not null default 0 check (wrong_codes <= 5),
        last_polled_at timestamptz,
        token_id text unique references token,
        created_at timestamptz not null,
        answered_at timestamptz,
        expires_at timestamptz not null,
        check ((status = 'redeemed') = (token_id is not null)),
        check (status <> 'redeemed' or account_id is not null)
      );
      create unique index access_request_one_open on access_request (email) where status = 'pending';
      create index on access_request (email, created_at);
      create index access_request_unsettled on access_request (expires_at) where status in ('pending', 'approved');

      create table signin_link (
        id text primary key,
        email text not null check (email = lower(email)),
        hash bytea not null unique,
        browser_hash bytea not null,
        code_hash bytea not null,
        wrong_codes integer not null default 0 check (wrong_codes <= 5),
        created_at timestamptz not null,
        expires_at timestamptz not null,
        ended_at timestamptz
      );
      create index on signin_link (email, created_at);
      create index on signin_link (expires_at);

      create table browser_session (
        id text primary key,
        account_id text not null references account,
        hash bytea not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index on browser_session (account_id);
      create index on browser_session (expires_at);

      create table email_change (
        id text primary key,
        account_id text not null references account,
        email text not null check (email = lower(email)),
        hash bytea not null unique,
        status text not null check (status in ('pending', 'confirmed', 'ended')),
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create unique index email_change_one_open on email_change (account_id) where status = 'pending';
      create index on email_change (account_id, created_at);
      create index on email_change (expires_at);
    `);
  }
}
