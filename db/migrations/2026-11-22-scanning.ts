import { Migration } from '@mikro-orm/migrations';

/** What scans of published files found. */
export class Scanning extends Migration {
  override up(): void {
    this.addSql(`
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
