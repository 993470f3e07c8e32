import { Migration } from '@mikro-orm/migrations';

/** The sandbox of each worker that serves builds. */
export class Builders extends Migration {
  override up(): void {
    this.addSql(`
      -- Set in the rows of single workers; the row of all of them has none.
      alter table capacity add column sandbox text;
    `);
  }
}
