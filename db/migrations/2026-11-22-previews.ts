import { Migration } from '@mikro-orm/migrations';

/** Preview slots and review links. */
export class Previews extends Migration {
  override up(): void {
    this.addSql(`
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

      -- Edges learn of previews through the row of the site.
      create function preview_changed() returns trigger language plpgsql as $$
      begin
        update site set live_deployment_id = live_deployment_id where id = new.site_id;
        return null;
      end $$;
      create trigger preview_changed after insert or update of deployment_id, expires_at, removed_at on preview
        for each row execute function preview_changed();

      create table review_link (
        id text primary key,
        site_id text not null references site,
        account_id text not null references account,
        slot integer check (slot > 0),
        hash bytea not null unique,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        ended_at timestamptz
      );
      create index on review_link (site_id, id desc);
      create index on review_link (account_id) where ended_at is null;
    `);
  }
}
