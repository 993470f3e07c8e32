import { Migration } from '@mikro-orm/migrations';

/** The build slots of each worker, and an index of the builds of the last hours. */
export class BuildSlots extends Migration {
  override up(): void {
    this.addSql(`
      -- Null in the row of all workers.
      alter table capacity add column slots integer;
      create index deployment_started on deployment (started_at) where kind in ('site', 'posts', 'draft');
    `);
  }
}
