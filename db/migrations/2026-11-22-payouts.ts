import { Migration } from '@mikro-orm/migrations';

/** Payout accounts, their onboarding links, and the offers and agreements that connect them to sites. */
export class Payouts extends Migration {
  override up(): void {
    this.addSql(`
      create table payout_account (
        id text primary key,
        account_id text not null references account,
        rail text not null check (rail in ('own_key', 'connect')),
        name text not null,
        -- The owner's provider key, encrypted; deleted with the account.
        sealed_key bytea,
        key_last_four text check (length(key_last_four) = 4),
        -- The provider's id. On the rail \`connect\` null until the onboarding link was first opened.
        provider_account text,
        status text not null check (status in ('ready', 'pending', 'gone')),
        currency text check (currency ~ '^[A-Z]{3}$'),
        waiting_for jsonb not null default '[]',
        checked_at timestamptz,
        created_at timestamptz not null,
        gone_at timestamptz,
        check ((rail = 'own_key' and status <> 'gone') = (sealed_key is not null)),
        check ((rail = 'own_key') = (key_last_four is not null)),
        check ((status = 'gone') = (gone_at is not null)),
        check (status <> 'ready' or provider_account is not null)
      );
      create index on payout_account (account_id, id desc);
      create index on payout_account (provider_account) where status <> 'gone';
      create index payout_account_asked on payout_account (checked_at nulls first) where status <> 'gone';

      -- Our link redirects to a provider's link, which is created each time it is opened. A new link replaces the previous one.
      create table payout_onboarding (
        payout_account_id text primary key references payout_account,
        hash bytea not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );

      create table payout_offer (
        id text primary key,
        site_id text not null references site,
        payout_account_id text not null references payout_account,
        opened_by text not null check (opened_by in ('site', 'payout_account')),
        status text not null check (status in ('open', 'accepted', 'expired', 'withdrawn')),
        created_at timestamptz not null,
        expires_at timestamptz not null,
        answered_at timestamptz,
        check ((status in ('accepted', 'withdrawn')) = (answered_at is not null))
      );
      create unique index payout_offer_one_open on payout_offer (site_id) where status = 'open';
      create index on payout_offer (payout_account_id, id desc);

      create table payout_agreement (
        id text primary key,
        site_id text not null references site,
        payout_account_id text not null references payout_account,
        -- Null where an owner connected their own payout account.
        offer_id text unique references payout_offer,
        began_at timestamptz not null,
        ended_at timestamptz,
        ended_by text check (ended_by in ('site', 'payout_account')),
        check ((ended_at is null) = (ended_by is null))
      );
      create unique index payout_agreement_one_open on payout_agreement (site_id) where ended_at is null;
      create index on payout_agreement (payout_account_id, id desc);

      create function payout_offer_inbox() returns trigger language plpgsql as $$
      begin
        if new.opened_by = 'site' then
          perform tell_inbox(account_id) from payout_account where id = new.payout_account_id;
        else
          perform tell_inbox(account_id) from site where id = new.site_id;
        end if;
        return null;
      end $$;
      create trigger payout_offer_inbox after insert on payout_offer
        for each row execute function payout_offer_inbox();
    `);
  }
}
