import { Migration } from '@mikro-orm/migrations';

/** Refunds of a part of a payment, and how much of a payment was refunded. */
export class PartialRefunds extends Migration {
  override up(): void {
    this.addSql(`
      alter table payment
        -- Of partial refunds: what was refunded, and what is being refunded. A whole refund is the status alone.
        add column refunded_amount integer not null default 0,
        add column refunding_amount integer not null default 0;

      create table payment_refund (
        id text primary key,
        attempt_id text not null references payment_attempt,
        amount integer not null check (amount > 0),
        -- How often the provider refused it; each new attempt has its own idempotency key.
        refusals integer not null default 0,
        began_at timestamptz not null,
        refunded_at timestamptz,
        -- It was given up: the amount can be refunded again.
        failed_at timestamptz,
        fault text,
        check (refunded_at is null or failed_at is null)
      );
      create index on payment_refund (attempt_id);
      create index payment_refund_unfinished on payment_refund (began_at) where refunded_at is null and failed_at is null;
    `);
  }
}
