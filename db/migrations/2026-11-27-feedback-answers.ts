import { Migration } from '@mikro-orm/migrations';

/** What became of feedback, and the operator's answer to it. */
export class FeedbackAnswers extends Migration {
  override up(): void {
    this.addSql(`
      alter table feedback add column status text not null default 'open', add column answer text, add column answered_at timestamptz;
    `);
  }
}
