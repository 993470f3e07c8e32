import { Migration } from '@mikro-orm/migrations';

/** Certificates of domains and of the platform’s own names, ACME accounts and challenges, and keys of TLS session tickets. */
export class Certificates extends Migration {
  override up(): void {
    this.addSql(`
      create table acme_account (
        directory text primary key,
        sealed_key bytea not null,
        url text,
        created_at timestamptz not null
      );

      create table certificate (
        id text primary key,
        -- Null for a name of the platform.
        domain_id text unique references domain,
        -- A host, or a wildcard.
        name text not null,
        status text not null check (status in ('pending', 'validating', 'issuing', 'active', 'failed')),
        -- Why there is no valid certificate, as text for the owner.
        problem text,
        chain text,
        sealed_key bytea,
        not_before timestamptz,
        not_after timestamptz,
        renew_at timestamptz,
        -- When the CA is next queried for its renewal information (RFC 9773).
        ask_at timestamptz,
        -- Since when a valid certificate has been served without a gap.
        healthy_since timestamptz,
        -- Consecutive refusals by the CA, and consecutive failed checks before an order.
        refusals integer not null default 0,
        looks integer not null default 0,
        next_try_at timestamptz,
        -- The open order: the key is stored before the order is created, the URL when the CA has returned it.
        order_key bytea,
        order_opened_at timestamptz,
        order_url text,
        -- The worker that holds the lease.
        lease text,
        leased_until timestamptz,
        created_at timestamptz not null,
        -- The last transaction that changed what edges serve.
        changed_xid xid8 not null default pg_current_xact_id(),
        -- The party that can solve the problem; null without one.
        problem_of text check (problem_of in ('owner', 'platform')),
        problem_since timestamptz,
        check ((chain is null) = (sealed_key is null)),
        check ((chain is null) = (not_after is null) and (chain is null) = (not_before is null)),
        check ((chain is null) = (renew_at is null)),
        check ((order_key is null) = (order_opened_at is null)),
        check (order_url is null or order_key is not null),
        check ((lease is null) = (leased_until is null)),
        check (status <> 'active' or chain is not null)
      );
      create unique index certificate_one_of_ours on certificate (name) where domain_id is null;
      create index on certificate (name) where chain is not null;
      create index on certificate (changed_xid);

      -- Responses to HTTP challenges (RFC 8555 section 8.3).
      create table acme_token (
        token text primary key,
        certificate_id text not null references certificate on delete cascade,
        answer text not null
      );
      create index on acme_token (certificate_id);

      create unlogged table ticket_key (period timestamptz primary key, sealed bytea not null);

      -- Edges learn of certificates through changed_xid, and of changes to a site through the row of the site.
      create function certificate_changed() returns trigger language plpgsql as $$
      begin
        new.changed_xid := pg_current_xact_id();
        perform pg_notify('certificate_changed', new.name);
        return new;
      end $$;
      create trigger certificate_changed before insert or update of chain, healthy_since on certificate
        for each row execute function certificate_changed();
      create function certificate_of_site_changed() returns trigger language plpgsql as $$
      begin
        perform pg_notify('domain_changed', new.domain_id);
        update site set live_deployment_id = live_deployment_id
          where id = (select site_id from domain where domain.id = new.domain_id);
        return null;
      end $$;
      create trigger certificate_of_site_changed after insert or update of chain, healthy_since, status on certificate
        for each row when (new.domain_id is not null) execute function certificate_of_site_changed();

      create function certificate_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(account_id) from domain where id = new.domain_id;
        return null;
      end $$;
      create trigger certificate_inbox after update on certificate for each row
        when (new.domain_id is not null
          and (old.status, old.problem, old.problem_of, old.chain is null) is distinct from (new.status, new.problem, new.problem_of, new.chain is null))
        execute function certificate_inbox();

      -- The private key of a removed domain is deleted.
      create function certificate_removed() returns trigger language plpgsql as $$
      begin
        update certificate set status = 'pending', chain = null, sealed_key = null, not_before = null, not_after = null, renew_at = null,
          ask_at = null, healthy_since = null, order_key = null, order_opened_at = null, order_url = null
          where domain_id = new.id;
        delete from acme_token using certificate where certificate_id = certificate.id and domain_id = new.id;
        return null;
      end $$;
      create trigger certificate_removed after update of removed_at on domain
        for each row when (old.removed_at is null and new.removed_at is not null) execute function certificate_removed();
    `);
  }
}
