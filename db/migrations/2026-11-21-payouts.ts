import { Migration } from '@mikro-orm/migrations';

/** Where a visitor's money lands: payout accounts, which site pays into which, and who has proposed it. */
export class Payouts extends Migration {
  override up(): void {
    this.addSql(`
      create table payout_account (
        id text primary key,
        account_id text not null references account,
        rail text not null check (rail in ('own_key', 'connect')),
        name text not null,
        -- The owner's key with the provider, sealed; destroyed with the account.
        sealed_key bytea,
        key_last_four text check (length(key_last_four) = 4),
        -- What the provider calls it; on the rail \`connect\` none before its link was opened.
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

      -- The link that leads to the provider's own, minted at each opening. A new one takes the place of the one before.
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
        -- None where an owner attached his own.
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
