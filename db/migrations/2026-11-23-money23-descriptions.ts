import { Migration } from '@mikro-orm/migrations';

/** What a payer pays for, and payments by the caller's own reference. */
export class PaymentDescriptions extends Migration {
  override up(): void {
    this.addSql(`
      -- Shown to the payer, unlike the reference.
      alter table payment add column description text;
      create index payment_reference on payment (site_id, reference, id desc) where reference is not null;
    `);
  }
}
