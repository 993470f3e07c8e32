import { Migration } from '@mikro-orm/migrations';

/** Bookings and blocks that a site's people make themselves, and moves of bookings. */
export class OwnBookings extends Migration {
  override up(): void {
    this.addSql(`
      alter table booking
        -- 'block': time that the site's people keep free of bookings.
        add column kind text not null default 'booking',
        -- The account that made it for the site; null where a visitor made it.
        add column created_by_id text,
        -- How often it was moved: the SEQUENCE of its calendar file.
        add column moves integer not null default 0,
        add column moved_at timestamptz;
      create index booking_own on booking (site_id, ends_at) where created_by_id is not null and status = 'confirmed';
    `);
  }
}
