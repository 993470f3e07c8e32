import { Migration } from '@mikro-orm/migrations';

/** Finds threads that wait for their first e-mail or, since their reviewer wrote again, for another. */
export class CommentsMailedAgain extends Migration {
  override up(): void {
    this.addSql(`
      drop index comment_thread_waiting;
      create index comment_thread_unmailed on comment_thread (changed_at)
        where status = 'open' and (owner_mailed_at is null or owner_mailed_at < changed_at);
    `);
  }
}
