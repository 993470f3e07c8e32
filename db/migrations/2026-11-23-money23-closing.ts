import { Migration } from '@mikro-orm/migrations';

/** Payment links that their site closes. */
export class ClosedPayments extends Migration {
  override up(): void {
    this.addSql(`
      -- No checkout session is created after this; the payment expires once its open ones are closed at the provider.
      alter table payment add column close_requested_at timestamptz;
    `);
  }
}
