import { Migration } from '@mikro-orm/migrations';

/** Tokens, access requests, browser sign-in, git credentials and OAuth grants. Every secret is stored as a hash. */
export class Auth extends Migration {
  override up(): void {
    this.addSql(`
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
      create index token_revoked on token (revoked_at) where revoked_at is not null;
      create index token_expiring on token (expires_at) where expires_at is not null;

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

      create table oauth_grant (
        id text primary key,
        token_id text not null unique references token (id) on delete cascade,
        client_hash bytea not null,
        created_at timestamptz not null
      );

      create table oauth_code (
        hash bytea primary key,
        account_id text not null references account (id),
        client_hash bytea not null,
        client_name text not null,
        redirect_uri text not null,
        challenge text not null,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        used_at timestamptz,
        grant_id text unique references oauth_grant (id) on delete set null
      );
      create index oauth_code_expiring on oauth_code (expires_at);

      create table oauth_refresh (
        hash bytea primary key,
        grant_id text not null references oauth_grant (id) on delete cascade,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        used_at timestamptz
      );
      create unique index oauth_refresh_unused on oauth_refresh (grant_id) where used_at is null;
      create index oauth_refresh_of_grant on oauth_refresh (grant_id);
      create index oauth_refresh_expiring on oauth_refresh (expires_at);
    `);
  }
}
