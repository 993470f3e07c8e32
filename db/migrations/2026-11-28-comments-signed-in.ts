import { Migration } from '@mikro-orm/migrations';

/** Whether the account itself wrote the message, signed in, or somebody with one of its review links. */
export class CommentsSignedIn extends Migration {
  override up(): void {
    this.addSql('alter table comment_message add column signed_in boolean not null default false;');
  }
}
