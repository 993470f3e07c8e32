import { Migration } from '@mikro-orm/migrations';

/** Assets, upload links, and photos of external libraries. */
export class Assets extends Migration {
  override up(): void {
    this.addSql(`
      -- One row for each version of a file. It counts while the source repository contains these bytes at this path.
      create table asset (
        id text primary key,
        site_id text not null references site,
        path text not null,
        oid text not null,
        bytes bigint not null check (bytes >= 0),
        sha256 text not null,
        source text not null check (source in ('api', 'photo', 'upload_link')),
        created_at timestamptz not null,
        unique (site_id, path, oid)
      );
      create index on asset (site_id, id desc);

      create table upload_link (
        id text primary key,
        site_id text not null references site,
        account_id text not null references account,
        hash bytea not null unique,
        max_files integer not null check (max_files > 0),
        max_file_bytes bigint not null check (max_file_bytes > 0),
        files_taken integer not null default 0,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        ended_at timestamptz,
        check (files_taken between 0 and max_files)
      );
      create index on upload_link (site_id, id desc);
      create index on upload_link (account_id) where ended_at is null;

      create table photo (
        id text primary key,
        library text not null,
        reference text not null,
        description text not null,
        width integer not null,
        height integer not null,
        credit_name text not null,
        credit_url text not null,
        page_url text not null,
        file_url text not null,
        thumb_url text not null,
        created_at timestamptz not null,
        unique (library, reference)
      );
      create table photo_search (
        library text not null,
        query text not null,
        photo_ids jsonb not null,
        expires_at timestamptz not null,
        primary key (library, query)
      );
      create index on photo_search (expires_at);
      -- Requests to a library by the minute: its limit holds for any hour, not for each hour of the clock.
      create table library_request (
        library text not null,
        minute timestamptz not null,
        requests integer not null,
        primary key (library, minute)
      );
    `);
  }
}
