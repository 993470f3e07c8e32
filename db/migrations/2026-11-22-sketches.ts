import { Migration } from '@mikro-orm/migrations';

/** Sketches and the hosts that serve them. */
export class Sketches extends Migration {
  override up(): void {
    this.addSql(`
      create table sketch (
        id text primary key,
        account_id text not null references account,
        title text not null,
        status text not null check (status in ('shown', 'removed')),
        created_at timestamptz not null,
        removed_at timestamptz,
        scanned_at timestamptz,
        check ((status = 'removed') = (removed_at is not null))
      );
      create index on sketch (account_id, id desc);
      create index sketch_unscanned on sketch (created_at) where scanned_at is null and status = 'shown';

      -- One host for each direction, and one at position 0 for the page that shows all of them.
      create table sketch_host (
        label text primary key,
        sketch_id text not null references sketch,
        position integer not null,
        name text not null,
        note text,
        -- The page of a direction; the page at position 0 is rendered on request.
        sha256 text,
        check ((position = 0) = (sha256 is null)),
        unique (sketch_id, position)
      );
    `);
  }
}
