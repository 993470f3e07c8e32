import { Migration } from '@mikro-orm/migrations';

/** Marks of e-mails that a schedule queues: each is queued in the transaction that sets its mark. */
export class PeriodicMails extends Migration {
  override up(): void {
    this.addSql(`
      alter table comment_thread
        -- When the owner was e-mailed that nobody has answered; set as well where they do not want that e-mail.
        add column owner_mailed_at timestamptz;
      create index comment_thread_waiting on comment_thread (changed_at) where status = 'open' and owner_mailed_at is null;
      create index comment_thread_mailed on comment_thread (site_id, owner_mailed_at) where owner_mailed_at is not null;
      alter table account
        -- The Monday of the last weekly summary; set as well where there was nothing to report.
        add column summarised_week date;
      create index account_summarised on account (summarised_week) where mail_choices @> '{"summary": true}';
    `);
  }
}
