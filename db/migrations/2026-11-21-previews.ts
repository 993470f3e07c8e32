import { Migration } from '@mikro-orm/migrations';

/** Preview slots, and what their deployments have of their own. */
export class Previews extends Migration {
  override up(): void {
    this.addSql(`
      alter table deployment add column slot integer check (slot >= 1);
      alter table deployment add column without_drafts jsonb;
      alter table deployment add column mains_before jsonb;
      alter table deployment add check ((kind = 'preview') = (slot is not null));
      alter table deployment add check (kind = 'preview' or (without_drafts is null and mains_before is null));
      -- A draft has no place in the order of what goes live, and never does.
      alter table deployment add check (kind <> 'preview' or (ticket > 0) = (mains_before is not null));
      alter table deployment add check (kind <> 'preview' or ticket > 0 or status not in ('live', 'retired'));
      create unique index deployment_one_draft_build on deployment (site_id, slot)
        where kind = 'preview' and ticket = 0 and status in ('queued', 'building', 'storing');

      create table preview (
        id text primary key,
        site_id text not null references site,
        slot integer not null check (slot >= 1),
        label text not null unique,
        latest_id text not null references deployment,
        deployment_id text references deployment,
        expires_at timestamptz,
        created_at timestamptz not null,
        removed_at timestamptz,
        check ((deployment_id is null) = (expires_at is null))
      );
      create unique index preview_one_life on preview (site_id, slot) where removed_at is null;
      create index preview_ending on preview (expires_at) where removed_at is null;

      -- Edges learn of previews with their site: what changes one stamps the site's row, as a pointer that moves does.
      create function preview_changed() returns trigger language plpgsql as $$
      begin
        update site set live_deployment_id = live_deployment_id where id = new.site_id;
        return null;
      end $$;
      create trigger preview_changed after insert or update of deployment_id, expires_at, removed_at on preview
        for each row execute function preview_changed();
    `);
  }
}
