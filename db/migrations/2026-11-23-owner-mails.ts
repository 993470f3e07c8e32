import { Migration } from '@mikro-orm/migrations';

/** What the limit of e-mails to the person who is notified on a site is counted by. */
export class OwnerMails extends Migration {
  override up(): void {
    this.addSql(`
      create index mail_to_owners on mail (site_id, send_at) where booking_id is null and send_at is not null;
    `);
  }
}
