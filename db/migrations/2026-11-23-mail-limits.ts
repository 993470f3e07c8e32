import { Migration } from '@mikro-orm/migrations';

/** What the limits of e-mails to people without an account are counted by. */
export class MailLimits extends Migration {
  override up(): void {
    this.addSql(`
      alter table mail
        -- A keyed hash of the address, for a day.
        add column recipient_hash bytea,
        -- Of a later e-mail about a booking: the booking, and when it is sent.
        add column booking_id text,
        add column send_at timestamptz;
      create index mail_first_contacts on mail (recipient_hash, created_at) where recipient_hash is not null;
      create index mail_first_contacts_by_site on mail (site_id, created_at) where recipient_hash is not null;
      create index mail_follow_ups on mail (booking_id, send_at) where booking_id is not null;
      create index mail_follow_ups_by_site on mail (site_id, send_at) where booking_id is not null;
    `);
  }
}
