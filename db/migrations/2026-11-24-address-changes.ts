import { Migration } from '@mikro-orm/migrations';

/** Both addresses confirm a change, the old one first, each with a code; the old one can undo it. */
export class AddressChanges extends Migration {
  override up(): void {
    this.addSql(`
      -- Null in changes of before, which only the new address confirmed.
      alter table email_change add column old_email text;
      -- The name of the token that asked for it; null where a person did.
      alter table email_change add column asked_by text;
      alter table email_change add column old_confirmed_at timestamptz;
      update email_change set status = 'ended' where status = 'pending';
      -- For old addresses that are reserved.
      create index on email_change (old_email) where status = 'confirmed';

      create table address_link (
        id text primary key,
        change_id text not null references email_change on delete cascade,
        side text not null check (side in ('old', 'new', 'undo')),
        hash bytea not null unique,
        code_hash bytea not null,
        wrong_codes integer not null default 0,
        created_at timestamptz not null
      );
      create index on address_link (change_id);
    `);
  }
}
