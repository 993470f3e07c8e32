import { Migration } from '@mikro-orm/migrations';

/** Items of the inbox that an account has marked as done. */
export class InboxDone extends Migration {
  override up(): void {
    this.addSql(`
      create table inbox_done (
        account_id text not null references account,
        kind text not null,
        subject_id text not null,
        -- When the item last changed, as the account has read it.
        item_at timestamptz not null,
        done_at timestamptz not null,
        primary key (account_id, kind, subject_id)
      );
      create index on inbox_done (done_at);
    `);
  }
}
