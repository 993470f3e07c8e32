import { Migration } from '@mikro-orm/migrations';

/** Pushes that are published: whether their password may, and those that the history has and no publish yet. */
export class PublishedPushes extends Migration {
  override up(): void {
    this.addSql(`
      alter table accepted_push add column may_publish boolean not null default false,
        add column recorded boolean not null default false;
    `);
  }
}
