import { Migration } from '@mikro-orm/migrations';

/** What each version was built from, so that a draft does not build the same again. */
export class SourceDigests extends Migration {
  override up(): void {
    this.addSql('alter table deployment add column source_digest text;');
  }
}
