import { Migration } from '@mikro-orm/migrations';

/** Where bookings take place. */
export class Places extends Migration {
  override up(): void {
    this.addSql(`
      alter table calendar
        add column place text,
        add column link text;
      alter table booking
        -- Those of the service when it was booked, which win over the calendar's.
        add column place text,
        add column link text;
    `);
  }
}
