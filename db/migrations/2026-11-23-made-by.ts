import { Migration } from '@mikro-orm/migrations';

/** The token that made a token, a git credential, an upload link or a review link, which ends with it. */
export class MadeBy extends Migration {
  override up(): void {
    for (const table of ['token', 'git_credential', 'upload_link', 'review_link']) {
      this.addSql(`
        alter table ${table} add column made_by text;
        create index on ${table} (made_by) where made_by is not null;
      `);
    }
  }
}
