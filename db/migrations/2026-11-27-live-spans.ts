import { Migration } from '@mikro-orm/migrations';

/** From when to when a version was live, each time that it was. */
export class LiveSpans extends Migration {
  override up(): void {
    this.addSql(`
      alter table deployment add column live_spans jsonb not null default '[]';
      -- Of earlier versions, the last time is known. It ended when another version went live.
      update deployment set live_spans = jsonb_build_array(jsonb_build_object(
        'from', live_at,
        'to', case when status <> 'live' then (select min(later.live_at) from deployment later
          where later.site_id = deployment.site_id and later.live_at > deployment.live_at) end))
        where live_at is not null and status in ('live', 'retired');
    `);
  }
}
