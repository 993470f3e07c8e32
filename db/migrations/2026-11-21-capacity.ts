import { Migration } from '@mikro-orm/migrations';

/** When workers that serve builds were last seen. */
export class Capacity extends Migration {
  override up(): void {
    this.addSql('create table capacity (name text primary key, seen_at timestamptz not null)');
  }
}
