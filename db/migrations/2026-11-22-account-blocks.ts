import { Migration } from '@mikro-orm/migrations';

/**
 * Accounts that a person has stopped. Their sites carry it, so that edges follow it as any other change of a site; mails know whose they are, so
 * that those of a stopped account wait (without foreign keys, so that queueing one waits for no lock of a site).
 */
export class AccountBlocks extends Migration {
  override up(): void {
    this.addSql(`
      alter table account add column blocked_at timestamptz, add column block_reason text,
        add check ((blocked_at is null) = (block_reason is null));
      alter table site add column owner_blocked_at timestamptz;
      alter table mail add column site_id text, add column account_id text;

      drop trigger site_changed on site;
      create trigger site_changed
        before insert or update of name, status, live_deployment_id, redirects_sha256, blocked_at, owner_blocked_at on site
        for each row execute function site_changed();

      create function account_blocked() returns trigger language plpgsql as $$
      begin
        update site set owner_blocked_at = new.blocked_at where account_id = new.id;
        return null;
      end $$;
      create trigger account_blocked after update of blocked_at on account
        for each row when (old.blocked_at is distinct from new.blocked_at) execute function account_blocked();

      -- A site that was being made meanwhile: the lock lets either of the two see the other.
      create function site_of_blocked_account() returns trigger language plpgsql as $$
      begin
        select blocked_at into new.owner_blocked_at from account where id = new.account_id for share;
        return new;
      end $$;
      create trigger site_of_blocked_account before insert on site
        for each row execute function site_of_blocked_account();
    `);
  }
}
