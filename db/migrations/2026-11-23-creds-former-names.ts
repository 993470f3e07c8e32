import { Migration } from '@mikro-orm/migrations';

/** Names that sites had. Their hosts redirect, and no other site gets them before `until`. */
export class FormerNames extends Migration {
  override up(): void {
    this.addSql(`
      create table former_name (
        id uuid primary key default gen_random_uuid(),
        site_id text not null references site,
        name text not null,
        renamed_at timestamptz not null,
        until timestamptz not null,
        -- When the site took the name back. The row still counts as a rename.
        ended_at timestamptz
      );
      create unique index former_name_kept on former_name (name) where ended_at is null;
      create index on former_name (site_id, renamed_at);
    `);
  }
}
