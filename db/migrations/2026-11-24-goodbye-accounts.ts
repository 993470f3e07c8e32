import { Migration } from '@mikro-orm/migrations';

/** When an account is deleted for good, and the e-mailed codes that confirm it. */
export class AccountDeletions extends Migration {
  override up(): void {
    this.addSql(`
      alter table account
        -- Set from the owner's confirmation until the purge has ended.
        add column delete_at timestamptz,
        -- When the purge began. The row stays, as the party of payments, and reserves the address for a while.
        add column purged_at timestamptz;
      create index account_deleting on account (delete_at) where delete_at is not null;
      create index account_purged on account (purged_at) where purged_at is not null;

      create table account_deletion_code (
        id text primary key,
        account_id text not null references account,
        code_hash bytea not null,
        wrong_codes integer not null default 0,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index on account_deletion_code (account_id, created_at);
    `);
  }
}
