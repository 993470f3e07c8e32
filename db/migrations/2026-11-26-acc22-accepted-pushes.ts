import { Migration } from '@mikro-orm/migrations';

/** Branches that a push is about to move, until the history has them. */
export class AcceptedPushes extends Migration {
  override up(): void {
    this.addSql(`
      create table accepted_push (
        id text primary key,
        accepted_at timestamptz not null,
        -- No foreign keys: a push does not wait for a change of its site, nor the other way round.
        site_id text not null,
        repository text not null,
        branch text not null,
        from_commit text,
        to_commit text not null,
        account_id text not null,
        -- The name of the token that made the password.
        via_name text
      );
    `);
  }
}
