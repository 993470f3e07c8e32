import { Migration } from '@mikro-orm/migrations';

/** Sites that a person has stopped. */
export class BlockedSites extends Migration {
  override up(): void {
    this.addSql(`
      alter table site add column blocked_at timestamptz, add column block_reason text,
        add check ((blocked_at is null) = (block_reason is null));

      drop trigger site_changed on site;
      create trigger site_changed before insert or update of name, status, live_deployment_id, redirects_sha256, blocked_at on site
        for each row execute function site_changed();

      create function site_blocked_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(new.account_id);
        return null;
      end $$;
      create trigger site_blocked_inbox after update of blocked_at on site
        for each row when (new.blocked_at is not null) execute function site_blocked_inbox();
    `);
  }
}
