import { Migration } from '@mikro-orm/migrations';

/** Screenshots and checks of versions in a browser, with their pictures. */
export class Renderings extends Migration {
  override up(): void {
    this.addSql(`
      create table rendering (
        id text primary key,
        kind text not null check (kind in ('screenshot', 'checks')),
        site_id text not null references site,
        deployment_id text not null references deployment,
        -- What is drawn and how; one row for each form of a screenshot.
        form text not null,
        work jsonb not null,
        status text not null check (status in ('queued', 'running', 'done', 'failed')),
        result jsonb,
        error jsonb,
        -- Whether a call asked for it. Checks that a publish starts count against no limit.
        asked boolean not null,
        created_at timestamptz not null,
        finished_at timestamptz,
        check ((status in ('done', 'failed')) = (finished_at is not null)),
        check ((status = 'failed') = (error is not null))
      );
      create unique index rendering_form on rendering (deployment_id, form) where status <> 'failed';
      create index on rendering (site_id, created_at);
      create index rendering_unfinished on rendering (created_at) where finished_at is null;

      create table rendering_picture (
        rendering_id text not null references rendering,
        position integer not null,
        site_id text not null references site,
        sha256 text not null,
        primary key (rendering_id, position)
      );
      create index on rendering_picture (site_id);
      create index on rendering_picture (decode(sha256, 'hex'));

      create function rendering_changed() returns trigger language plpgsql as $$
      begin
        perform pg_notify('rendering_changed', new.id);
        return null;
      end $$;
      create trigger rendering_changed after update of status on rendering
        for each row execute function rendering_changed();
    `);
  }
}
