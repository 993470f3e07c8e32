import { Migration } from '@mikro-orm/migrations';

/** Payments of visitors: what is due, the checkout sessions, charges and refunds, and what the ledger check found. */
export class Payments extends Migration {
  override up(): void {
    this.addSql(`
      create table payment (
        id text primary key,
        site_id text not null references site,
        payout_account_id text not null references payout_account,
        amount integer not null check (amount > 0),
        currency text not null check (currency ~ '^[A-Z]{3}$'),
        -- The caller's own reference, opaque to us.
        reference text,
        status text not null check (status in ('open', 'paid', 'refunding', 'refunded', 'expired')),
        -- No checkout session is created after this.
        expires_at timestamptz not null,
        -- The payer returned from checkout: the provider is queried at once.
        returned_at timestamptz,
        paid_at timestamptz,
        refunded_at timestamptz,
        created_at timestamptz not null,
        check ((status in ('paid', 'refunding', 'refunded')) = (paid_at is not null)),
        check ((status = 'refunded') = (refunded_at is not null))
      );
      create index on payment (site_id, id desc);
      create index on payment (payout_account_id, id desc);

      create function payment_changed() returns trigger language plpgsql as $$
      begin
        perform pg_notify('payment_changed', new.id);
        return null;
      end $$;
      create trigger payment_changed after update of status on payment for each row execute function payment_changed();

      -- A checkout session each. Its URL is a secret of the payer and is never stored.
      create table payment_attempt (
        id text primary key,
        payment_id text not null references payment,
        status text not null check (status in ('minting', 'open', 'closed', 'paid', 'unasked')),
        -- Stored before the provider is asked for the session.
        idempotency_key text not null unique,
        page text,
        opened_at timestamptz not null,
        ends_at timestamptz not null,
        charge text,
        charged_at timestamptz,
        refund_reason text check (refund_reason in ('asked', 'cancelled', 'second', 'late')),
        refund_key text unique,
        refund_began_at timestamptz,
        refunded_at timestamptz,
        refund_fault text,
        -- How often the provider refused the refund; each new attempt has its own idempotency key.
        refund_refusals integer not null default 0,
        check ((status = 'paid') = (charge is not null)),
        check ((charge is null) = (charged_at is null)),
        check ((refund_reason is null) = (refund_key is null)),
        check (refund_reason is null or charge is not null),
        check (refunded_at is null or refund_reason is not null),
        check (status <> 'open' or page is not null)
      );
      create index on payment_attempt (payment_id);
      create unique index on payment_attempt (payment_id, page) where page is not null;
      create unique index on payment_attempt (payment_id, charge) where charge is not null;
      -- At most one charge of a payment is captured; every other one is refunded.
      create unique index payment_attempt_one_kept on payment_attempt (payment_id) where charge is not null and refund_reason is null;
      create index payment_attempt_unsettled on payment_attempt (payment_id) where status in ('minting', 'open', 'unasked');
      create index payment_attempt_refunding on payment_attempt (refund_began_at) where refund_reason is not null and refunded_at is null;

      -- The provider may deliver an event twice; each is handled once.
      create table payment_event (
        id text primary key,
        received_at timestamptz not null
      );
      create index on payment_event (received_at);

      -- What the ledger check found and could not repair: charges without a payment, or payments without a charge.
      create table ledger_flag (
        subject text primary key,
        payout_account_id text references payout_account,
        why text not null,
        found_at timestamptz not null,
        seen_at timestamptz not null,
        -- Settled by the operator, which the check cannot see.
        settled_at timestamptz,
        settled_because text,
        check ((settled_at is null) = (settled_because is null))
      );
    `);
  }
}
