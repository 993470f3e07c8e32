import { Migration } from '@mikro-orm/migrations';

/** Visitors who want to be notified of changes or reminded, and the e-mail to the site's address about a booking. */
export class PreparedMails extends Migration {
  override up(): void {
    this.addSql(`
      -- The visitor's address, encrypted, in the one prepared e-mail of the booking. Deleted when the booking ends.
      create table prepared_mail (
        booking_id text primary key references booking,
        sealed bytea not null,
        created_at timestamptz not null
      );
      alter table booking
        -- When the reminder is queued; null if none is wanted, or once it is queued.
        add column remind_at timestamptz,
        -- The newest e-mail to the site's address for booking notices: a row of mail.
        add column notice_id text;
      create index booking_reminders on booking (remind_at) where remind_at is not null;
      create index on booking (notice_id) where notice_id is not null;
    `);
  }
}
