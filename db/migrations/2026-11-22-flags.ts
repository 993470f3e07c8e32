import { Migration } from '@mikro-orm/migrations';

/** What scans of published files found, and which versions were scanned. */
export class Flags extends Migration {
  override up(): void {
    this.addSql(`
      alter table deployment add column scanned_at timestamptz;
      create index if not exists deployment_unscanned on deployment (finished_at)
        where scanned_at is null and manifest_sha256 is not null and status in ('live', 'ready');
      create index if not exists deployment_scanned on deployment (site_id, scanned_at) where scanned_at is not null;
      alter table sketch add column scanned_at timestamptz;
      create index if not exists sketch_unscanned on sketch (created_at) where scanned_at is null and status = 'shown';

      create table flag (
        id text primary key,
        site_id text references site,
        sketch_id text references sketch,
        deployment_id text references deployment,
        path text not null,
        kind text not null check (kind in
          ('password_form', 'password_sent', 'redirect', 'wallet_drainer', 'seed_phrase', 'brand_signin', 'unread')),
        sha256 text not null,
        excerpt text not null check (length(excerpt) <= 200),
        found_at timestamptz not null,
        dismissed text[] not null default '{}',
        dismissed_at timestamptz,
        dismissed_because text,
        check (num_nonnulls(site_id, sketch_id) = 1),
        check ((dismissed_at is null) = (dismissed_because is null)),
        unique nulls not distinct (site_id, sketch_id, path, kind)
      );
      create index flag_open on flag (found_at) where sha256 <> all (dismissed);
    `);
  }
}
