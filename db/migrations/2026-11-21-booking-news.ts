import { Migration } from '@mikro-orm/migrations';

/** Who waits for news hears of a booking. */
export class BookingNews extends Migration {
  override up(): void {
    this.addSql(`
      create trigger booking_inbox after insert or update of status on booking
        for each row when (new.status = 'confirmed') execute function inbox_changed();
    `);
  }
}
