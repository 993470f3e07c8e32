import { Migration } from '@mikro-orm/migrations';

/** By which form an e-mail acknowledges a submission: the submission may be deleted before the day is over. */
export class Acknowledgements extends Migration {
  override up(): void {
    this.addSql(`
      -- Without a reference, as the form may be deleted too.
      alter table mail add column form_id text;
      update mail set form_id = submission.form_id from submission where submission.acknowledgement_id = mail.id;
    `);
  }
}
