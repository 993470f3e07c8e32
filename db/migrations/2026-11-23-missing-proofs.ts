import { Migration } from '@mikro-orm/migrations';

/** Since when, and in how many checks, the proof of a domain has been missing from the DNS. */
export class MissingProofs extends Migration {
  override up(): void {
    this.addSql(`
      alter table domain
        add column unproved_since timestamptz,
        add column unproved_checks integer not null default 0;
    `);
  }
}
