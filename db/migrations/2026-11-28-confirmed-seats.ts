import { Migration } from '@mikro-orm/migrations';

/** Finds the seats that confirmed bookings take, without reading their rows. */
export class ConfirmedSeats extends Migration {
  override up(): void {
    this.addSql(`
      create index if not exists booking_confirmed on booking (calendar_id, busy_from, busy_until, seats)
        where status = 'confirmed';
    `);
  }
}
