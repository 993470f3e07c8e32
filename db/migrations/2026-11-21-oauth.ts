import { Migration } from '@mikro-orm/migrations';

/** Connectors that an owner has let in: their codes, grants and refresh tokens, all by hash. */
export class Oauth extends Migration {
  override up(): void {
    this.addSql(`
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
