import { Migration } from '@mikro-orm/migrations';

/** When a site is deleted for good, and the files of a deleted site that may have to be removed from the store. */
export class SiteDeletions extends Migration {
  override up(): void {
    this.addSql(`
      alter table site
        -- Set from the owner's call until the purge has ended.
        add column delete_at timestamptz,
        -- When the purge began. The row stays, as the subject of payments and bookings.
        add column purged_at timestamptz;
      create index site_deleting on site (delete_at) where delete_at is not null;
      create index site_purged on site (purged_at) where purged_at is not null;

      -- Hashes of files that a site under deletion had: each is removed from the store, unless something else names it.
      create table purge_blob (
        site_id text not null references site,
        sha256 bytea not null,
        primary key (site_id, sha256)
      );

      -- Rows of deleted sites are looked up by what refers to them.
      create index on deployment (superseded_by_id) where superseded_by_id is not null;
      create index on comment_thread (deployment_id) where deployment_id is not null;
      create index on preview (latest_id);
      create index on preview (deployment_id) where deployment_id is not null;
      create index on flag (deployment_id) where deployment_id is not null;
      create index on flag (site_id) where site_id is not null;
      create index on site (live_deployment_id) where live_deployment_id is not null;
      create index on held_file (site_id);

      -- The files of both outputs of a draft are listed from now on.
      update deployment set files_listed = false where published_output is not null;
    `);
  }
}
