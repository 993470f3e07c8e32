import { Migration } from '@mikro-orm/migrations';

/** Finds a visitor's bookings without a payment on a site, of which there is a limit. */
export class FreeBookings extends Migration {
  override up(): void {
    this.addSql(`
      create index booking_free on booking (site_id, visitor_hash, ends_at) where status = 'confirmed' and payment_id is null;
    `);
  }
}
