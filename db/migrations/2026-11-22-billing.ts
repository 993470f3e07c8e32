import { Migration } from '@mikro-orm/migrations';

/** Customers and subscriptions of the billing provider, plans that the operator granted, and handled events. */
export class Billing extends Migration {
  override up(): void {
    this.addSql(`
      create table billing_customer (
        account_id text primary key references account,
        provider_customer text not null unique,
        created_at timestamptz not null
      );
      create table billing_subscription (
        id text primary key,
        account_id text not null references account,
        plan text not null,
        status text not null check (status in ('open', 'expired', 'active', 'past_due', 'ending', 'ended')),
        provider_checkout text unique,
        provider_subscription text unique,
        created_at timestamptz not null,
        checkout_ends_at timestamptz not null,
        started_at timestamptz,
        overdue_since timestamptz,
        serves_until timestamptz,
        cancels_at timestamptz,
        settled_at timestamptz,
        ask_at timestamptz,
        asked integer not null default 0,
        check (status in ('open', 'expired') or provider_subscription is not null),
        check ((status = 'past_due') = (overdue_since is not null)),
        check ((overdue_since is null) = (serves_until is null)),
        check ((status in ('expired', 'ended')) = (settled_at is not null)),
        check ((settled_at is null) = (ask_at is not null))
      );
      -- At most one open checkout session and one paid plan per account.
      create unique index billing_subscription_open on billing_subscription (account_id) where status = 'open';
      create unique index billing_subscription_in_force on billing_subscription (account_id)
        where status in ('active', 'past_due');
      create index billing_subscription_account on billing_subscription (account_id, created_at);
      create index billing_subscription_ask on billing_subscription (ask_at) where ask_at is not null;
      create table plan_grant (
        id text primary key,
        account_id text not null references account,
        plan text not null,
        created_at timestamptz not null,
        ends_at timestamptz not null,
        ended_at timestamptz,
        check (ends_at > created_at)
      );
      create unique index plan_grant_one on plan_grant (account_id) where ended_at is null;
      create table billing_event (
        id text primary key,
        received_at timestamptz not null
      );
      create index billing_event_received on billing_event (received_at);
    `);
  }
}
