import { Migration } from '@mikro-orm/migrations';

/** Comparisons of two versions, pictures for cards, and screenshots of sketches, which belong to no site. */
export class Comparisons extends Migration {
  override up(): void {
    this.addSql(`
      alter table rendering
        drop constraint rendering_kind_check,
        alter column site_id drop not null,
        alter column deployment_id drop not null,
        add column sketch_id text references sketch,
        add check ((deployment_id is null) <> (sketch_id is null));
      create unique index rendering_sketch_form on rendering (sketch_id, form) where status <> 'failed';
      alter table rendering_picture alter column site_id drop not null;
    `);
  }
}
