import { Migration } from '@mikro-orm/migrations';

/** Refunds that are asked for anew after a refusal, flags that a person has settled, and addresses that are to be forgotten in time. */
export class MoneyMended extends Migration {
  override up(): void {
    this.addSql(`
      alter table payment_attempt
        -- How often the provider has refused the refund: what it is asked next has a key of its own.
        add column refund_refusals integer not null default 0;

      alter table ledger_flag
        -- A person has seen to it, and the check cannot see that.
        add column settled_at timestamptz,
        add column settled_because text,
        add check ((settled_at is null) = (settled_because is null));

      create index booking_reachable on booking (hold_expires_at) where visitor_sealed is not null;
    `);
  }
}
