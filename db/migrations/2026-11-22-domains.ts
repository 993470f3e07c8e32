import { Migration } from '@mikro-orm/migrations';

/** Domains of owners, their DNS records, and tombstones of removed domains. */
export class Domains extends Migration {
  override up(): void {
    this.addSql(`
      create table domain (
        id text primary key,
        account_id text not null references account,
        -- ASCII, lower case, without the trailing dot.
        name text not null check (name ~ '^([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$' and length(name) <= 253),
        -- The registrable name: one label below the public suffix.
        registrable text not null check (name = registrable or name like '%.' || registrable),
        mode text not null check (mode in ('nameservers', 'cname')),
        status text not null check (status in ('pending', 'active', 'Moved', 'Deleted', 'Blocked')),
        status_since timestamptz not null,
        -- Proves this onboarding: the value of the TXT record, and the first label of the pair of name servers.
        proof text not null unique,
        pair text not null unique,
        proved_at timestamptz,
        site_id text references site,
        is_primary boolean not null default false,
        attached_at timestamptz,
        block_reason text,
        -- The last observation of the DNS, and how many checks in a row disagreed with the status.
        sight jsonb,
        checks integer not null default 0,
        checked_at timestamptz,
        asked_at timestamptz,
        next_check_at timestamptz,
        elsewhere_since timestamptz,
        elsewhere_checks integer not null default 0,
        absent_checks integer not null default 0,
        created_at timestamptz not null,
        removed_at timestamptz,
        -- Since when the registrable name has been missing at its parent.
        absent_since timestamptz,
        -- When its site was last detached from it.
        detached_at timestamptz,
        check (status in ('pending', 'Blocked') or proved_at is not null),
        check ((status = 'Blocked') = (block_reason is not null)),
        check ((site_id is null) = (attached_at is null)),
        check (not is_primary or site_id is not null),
        check (site_id is null or (proved_at is not null and removed_at is null)),
        check (next_check_at is not null or status = 'Blocked' or removed_at is not null)
      );
      create unique index domain_one_onboarding on domain (account_id, name) where removed_at is null;
      create unique index domain_one_holder on domain (name)
        where removed_at is null and proved_at is not null and status <> 'Deleted';
      create unique index domain_one_primary on domain (site_id) where is_primary;
      create index on domain (account_id, id desc) where removed_at is null;
      create index on domain (registrable) where removed_at is null;
      create index on domain (site_id) where site_id is not null;
      create index domain_due on domain (next_check_at) where removed_at is null;

      -- No other account may own the name or a name above it. The advisory lock serialises changes below one registrable name.
      create function domain_held() returns trigger language plpgsql as $$
      begin
        perform pg_advisory_xact_lock(hashtextextended('domain:' || new.registrable, 0));
        if exists (select 1 from domain other where other.registrable = new.registrable and other.account_id <> new.account_id
          and other.removed_at is null and other.proved_at is not null and other.status <> 'Deleted'
          and (new.name = other.name or new.name like '%.' || other.name)) then
          raise exception 'another account holds % or a name above it', new.name
            using errcode = 'unique_violation', constraint = 'domain_held';
        end if;
        return new;
      end $$;
      create trigger domain_held before insert or update of proved_at, status, removed_at on domain
        for each row when (new.proved_at is not null and new.removed_at is null and new.status <> 'Deleted')
        execute function domain_held();

      -- Edges learn of domains through the row of the site: both the previous site and the new one are updated.
      create function domain_changed() returns trigger language plpgsql as $$
      begin
        perform pg_notify('domain_changed', new.id);
        if tg_op = 'UPDATE' and (old.site_id, old.is_primary, old.status) is not distinct from (new.site_id, new.is_primary, new.status) then
          return null;
        end if;
        if tg_op = 'UPDATE' and old.site_id is distinct from new.site_id then
          update site set live_deployment_id = live_deployment_id where id = old.site_id;
        end if;
        update site set live_deployment_id = live_deployment_id where id = new.site_id;
        return null;
      end $$;
      create trigger domain_changed after insert or update on domain for each row execute function domain_changed();

      create function domain_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(new.account_id);
        return null;
      end $$;
      create trigger domain_inbox after insert on domain for each row execute function domain_inbox();
      create trigger domain_moved_inbox after update on domain for each row
        when ((old.status, old.site_id, old.checked_at is null) is distinct from (new.status, new.site_id, new.checked_at is null))
        execute function domain_inbox();

      create table domain_record (
        id text primary key,
        domain_id text not null references domain,
        type text not null check (type in ('A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'CAA', 'NS')),
        -- Fully qualified and in the form of domain.name.
        name text not null,
        content text not null,
        ttl integer not null check (ttl between 60 and 604800),
        priority integer check (priority between 0 and 65535),
        created_at timestamptz not null,
        check ((type in ('MX', 'SRV')) = (priority is not null))
      );
      create unique index domain_record_once on domain_record (domain_id, name, type, md5(content), coalesce(priority, -1));

      -- The last owner of a removed name, until an account proves it again. DNS records that still point here grant nothing.
      create table domain_tombstone (
        name text primary key,
        account_id text not null references account,
        mode text not null check (mode in ('nameservers', 'cname')),
        removed_at timestamptz not null
      );
    `);
  }
}
