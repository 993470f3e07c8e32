import { Migration } from '@mikro-orm/migrations';

/** Who sent a submission, how often a visitor moved a booking, and how often a mail may have been delivered already. */
export class SendersMovesCopies extends Migration {
  override up(): void {
    this.addSql(`
      -- For the inbox, which does not read the values: they may have a megabyte.
      alter table submission add column sender text, add column opening text;
      alter table booking add column visitor_moves integer not null default 0;
      alter table mail add column unanswered integer not null default 0;
    `);
  }
}
