import { Migration } from '@mikro-orm/migrations';

/** Payments and failed refunds in the inbox. */
export class FailedRefunds extends Migration {
  override up(): void {
    this.addSql(`
      -- The last refund was given up; null once another one begins.
      alter table payment add column refund_failed_at timestamptz;
      create index payment_paid on payment (site_id, paid_at desc) where paid_at is not null;
      create index payment_refund_failed on payment (site_id, refund_failed_at desc) where refund_failed_at is not null;
    `);
  }
}
