import { Migration } from '@mikro-orm/migrations';

/** A file that comes is found among all that are missing by its hash. */
export class OutputLookedUp extends Migration {
  override up(): void {
    this.addSql(`
      drop index upload_file_missing;
      create index upload_file_missing on upload_file (deployment_id, sha256) where missing;
    `);
  }
}
