import { Migration } from '@mikro-orm/migrations';

/** Who moved a booking last. */
export class MovedBy extends Migration {
  override up(): void {
    this.addSql(`
      alter table booking
        -- The account that moved it last, or null where the visitor did.
        add column moved_by_id text;
    `);
  }
}
