import { Migration } from '@mikro-orm/migrations';

/** Checks that a publish queued and a call waits for, and indexes for limits of an hour and for removals. */
export class RenderingTurns extends Migration {
  override up(): void {
    this.addSql(`
      -- Whether a call waits for what no call asked for: it has the turn of an asked one, and counts against no limit.
      alter table rendering add column awaited boolean not null default false;
      create index rendering_asked on rendering (created_at) where asked;
      -- The partial indexes serve no check of a reference.
      create index on rendering (deployment_id);
      create index on rendering (sketch_id) where sketch_id is not null;
    `);
  }
}
