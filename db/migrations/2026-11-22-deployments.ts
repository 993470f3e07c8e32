import { Migration } from '@mikro-orm/migrations';

/** Deployments, their build logs and uploads, the files that sites own, and the last heartbeat of builders. */
export class Deployments extends Migration {
  override up(): void {
    this.addSql(`
      create table deployment (
        id text primary key,
        site_id text not null references site,
        number integer not null,
        kind text not null check (kind in ('site', 'posts', 'upload', 'draft', 'preview')),
        status text not null check (status in
          ('uploading', 'queued', 'building', 'storing', 'ready', 'live', 'retired', 'superseded', 'failed', 'cancelled')),
        ticket integer not null,
        source_commit text,
        content_commit text,
        image text,
        site_url text not null,
        superseded_by_id text references deployment,
        manifest_sha256 text,
        file_count integer,
        total_bytes bigint,
        error jsonb,
        created_by_id text not null references account,
        created_at timestamptz not null,
        started_at timestamptz,
        finished_at timestamptz,
        live_at timestamptz,
        -- When an upload stops accepting files.
        upload_ends_at timestamptz,
        -- What the check of the output found; null before it ran.
        warnings jsonb,
        -- Whether all its files are rows of held_file.
        files_listed boolean not null default false,
        -- Built without the cache of earlier builds.
        no_cache boolean not null default false,
        slot integer check (slot >= 1),
        published_output jsonb,
        expected_heads jsonb,
        scanned_at timestamptz,
        -- Whether the scan could read every file.
        scanned_whole boolean not null default false,
        unique (site_id, number),
        check (status not in ('ready', 'live', 'retired') or manifest_sha256 is not null),
        check ((status = 'failed') = (error is not null)),
        check (status <> 'uploading' or upload_ends_at is not null),
        check ((kind in ('draft', 'preview')) = (slot is not null)),
        check (kind = 'draft' or published_output is null),
        check ((kind = 'preview') = (expected_heads is not null)),
        -- A draft has no ticket and never goes live.
        check (kind <> 'draft' or (ticket = 0 and status not in ('live', 'retired')))
      );
      create index on deployment (site_id, id desc);
      create index deployment_waiting on deployment (site_id, ticket) where status = 'queued';
      create unique index deployment_one_live on deployment (site_id) where status = 'live';
      create unique index deployment_one_build on deployment (site_id) where status in ('building', 'storing') and kind in ('site', 'posts');
      create unique index deployment_one_draft_build on deployment (site_id, slot)
        where kind = 'draft' and status in ('queued', 'building', 'storing');
      create index deployment_unfinished on deployment (created_at) where status in ('queued', 'building', 'storing');
      create index deployment_uploading on deployment (upload_ends_at) where status = 'uploading';
      create index deployment_failed on deployment (site_id, ticket desc) where status = 'failed';
      create index deployment_unlisted on deployment (site_id, id) where not files_listed and manifest_sha256 is not null;
      create index deployment_unscanned on deployment (finished_at)
        where scanned_at is null and manifest_sha256 is not null and status in ('live', 'ready');
      create index deployment_scanned on deployment (site_id, scanned_at) where scanned_whole;
      alter table site add foreign key (live_deployment_id) references deployment;

      create function deployment_changed() returns trigger language plpgsql as $$
      begin
        perform pg_notify('deployment_changed', new.id);
        return null;
      end $$;
      create trigger deployment_changed after insert or update of status on deployment
        for each row execute function deployment_changed();
      create trigger deployment_inbox after update of status on deployment
        for each row when (new.status = 'failed') execute function inbox_changed();

      create table build_log (
        deployment_id text not null references deployment,
        seq integer not null,
        text text not null,
        primary key (deployment_id, seq)
      );

      -- The manifest of an unfinished deployment, a row per file. Deleted when the deployment ends.
      create table upload_file (
        deployment_id text not null references deployment,
        path text not null,
        sha256 bytea not null,
        bytes bigint not null,
        missing boolean not null,
        -- Uploaded with this deployment, so it must be synced to disk before the deployment goes live.
        came boolean not null default false,
        primary key (deployment_id, path)
      );
      create index on upload_file (deployment_id, sha256);
      create index upload_file_came on upload_file (deployment_id, sha256) where came;
      create index upload_file_missing on upload_file (deployment_id, sha256) where missing;

      -- The files that a site has uploaded itself: knowing a hash does not prove possession of the file.
      create table held_file (
        sha256 bytea not null,
        site_id text not null references site,
        bytes bigint not null,
        encodings text[] not null,
        primary key (sha256, site_id)
      );

      -- The last heartbeat of workers that serve builds.
      create table capacity (name text primary key, seen_at timestamptz not null);
    `);
  }
}
