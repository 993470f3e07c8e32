import { Migration } from '@mikro-orm/migrations';

/** Accounts, changes of their e-mail address, and the daily quota of files. */
export class Accounts extends Migration {
  override up(): void {
    this.addSql(`
      create table account (
        id text primary key,
        name text not null,
        email text not null unique check (email = lower(email)),
        created_at timestamptz not null,
        blocked_at timestamptz,
        block_reason text,
        check ((blocked_at is null) = (block_reason is null))
      );

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
      -- For the rate limit by address.
      create index on email_change (email, created_at);

      create table files_of_day (
        account_id text not null references account,
        day date not null,
        files integer not null check (files >= 0),
        primary key (account_id, day)
      );
    `);
  }
}
