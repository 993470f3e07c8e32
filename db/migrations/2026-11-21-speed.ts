import { Migration } from '@mikro-orm/migrations';

/** Deployments that are built without what earlier builds of their site left. */
export class BuiltAnew extends Migration {
  override up(): void {
    this.addSql('alter table deployment add column anew boolean not null default false;');
  }

  override down(): void {
    this.addSql('alter table deployment drop column anew;');
  }
}
