import { Migration } from '@mikro-orm/migrations';

/** To whom visitors' replies to mails about bookings go. */
export class BookingReplies extends Migration {
  override up(): void {
    this.addSql(`
      alter table bookable
        -- The account whose address visitors reply to, or null for none. Ignored unless it is the owner or a collaborator.
        add column reply_to_id text;
    `);
  }
}
