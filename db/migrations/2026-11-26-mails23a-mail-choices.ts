import { Migration } from '@mikro-orm/migrations';

/** The e-mails that an account's owner has switched on or off. */
export class MailChoices extends Migration {
  override up(): void {
    this.addSql(`
      -- By name of the e-mail, true or false; null until the owner chooses.
      alter table account add column mail_choices jsonb;
      -- What the limits of e-mails to one account are counted by.
      create index mail_to_accounts on mail (account_id, kind, created_at) where account_id is not null;
    `);
  }
}
