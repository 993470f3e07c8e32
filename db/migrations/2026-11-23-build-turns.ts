import { Migration } from '@mikro-orm/migrations';

/** Since when a queued build may start. */
export class BuildTurns extends Migration {
  override up(): void {
    this.addSql(`
      -- Null while it waits. One that does not start gives its turn to others.
      alter table deployment add column turn_at timestamptz;
    `);
  }
}
