import { Migration } from '@mikro-orm/migrations';

/** Redirect rules of sites, uploads of built output, warnings, sketches. */
export class Output extends Migration {
  override up(): void {
    this.addSql(`
      -- The rules that a call set: a blob in the store, as manifests are.
      alter table site add column redirects_sha256 text;
      drop trigger site_changed on site;
      create trigger site_changed before insert or update of name, status, live_deployment_id, redirects_sha256 on site
        for each row execute function site_changed();

      -- Until when an upload takes files. What was found wrong in the output, once somebody asked.
      alter table deployment add column upload_ends_at timestamptz;
      alter table deployment add column warnings jsonb;
      alter table deployment add check (status <> 'uploading' or upload_ends_at is not null);
      create index deployment_uploading on deployment (upload_ends_at) where status = 'uploading';

      -- What the manifest of a deployment under way names; gone when it has ended.
      create table upload_file (
        deployment_id text not null references deployment,
        path text not null,
        sha256 bytea not null,
        bytes bigint not null,
        missing boolean not null,
        -- Whether the bytes came with this deployment, and are not safe on the disk before it goes live.
        came boolean not null default false,
        primary key (deployment_id, path)
      );
      create index on upload_file (deployment_id, sha256);
      create index upload_file_came on upload_file (deployment_id, sha256) where came;
      create index upload_file_missing on upload_file (deployment_id) where missing;

      -- Which bytes a site has brought to the store itself: to name a hash proves nothing.
      create table held_file (
        sha256 bytea not null,
        site_id text not null references site,
        bytes bigint not null,
        encodings text[] not null,
        primary key (sha256, site_id)
      );
      -- Deployments whose files are all among them.
      alter table deployment add column files_listed boolean not null default false;
      create index deployment_unlisted on deployment (site_id, id) where not files_listed and manifest_sha256 is not null;

      create table sketch (
        id text primary key,
        account_id text not null references account,
        title text not null,
        status text not null check (status in ('shown', 'removed')),
        created_at timestamptz not null,
        removed_at timestamptz,
        check ((status = 'removed') = (removed_at is not null))
      );
      create index on sketch (account_id, id desc);

      -- One host for each direction, and one, at position 0, for the page that shows them together.
      create table sketch_host (
        label text primary key,
        sketch_id text not null references sketch,
        position integer not null,
        name text not null,
        note text,
        -- The page of a direction; the page of all is made when it is asked for.
        sha256 text,
        check ((position = 0) = (sha256 is null)),
        unique (sketch_id, position)
      );
    `);
  }
}
