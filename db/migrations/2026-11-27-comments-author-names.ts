import { Migration } from '@mikro-orm/migrations';

/** The name that a reviewer typed, or of the token that wrote, on each message of a thread. */
export class CommentAuthorNames extends Migration {
  override up(): void {
    this.addSql('alter table comment_message add column author_name text;');
  }
}
