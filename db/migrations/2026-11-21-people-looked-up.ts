import { Migration } from '@mikro-orm/migrations';

/** Changes of address are counted by the address too, and a mail is forgotten where no invitation shows it. */
export class PeopleLookedUp extends Migration {
  override up(): void {
    this.addSql(`
      create index on email_change (email, created_at);
      create index on invitation (mail_id);
    `);
  }
}
