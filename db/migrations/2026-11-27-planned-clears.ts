import { Migration } from '@mikro-orm/migrations';

/** Clears of preview slots that are about to remove a branch, beside the pushes. */
export class PlannedClears extends Migration {
  override up(): void {
    this.addSql(`
      -- Of a clear: whether it discards work. \`to_commit\` is empty then.
      alter table accepted_push add column discarded boolean;
    `);
  }
}
