import { Migration } from '@mikro-orm/migrations';

/** Feedback of agents about the platform, for operators. */
export class Feedback extends Migration {
  override up(): void {
    this.addSql(`
      create table feedback (
        id text primary key,
        account_id text not null references account (id),
        kind text not null,
        message text not null,
        context text,
        created_at timestamptz not null
      );
      create index feedback_of_day on feedback (account_id, created_at);
      create index feedback_since on feedback (created_at);
    `);
  }
}
