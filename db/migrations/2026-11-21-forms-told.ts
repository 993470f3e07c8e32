import { Migration } from '@mikro-orm/migrations';

/** A submission is news for who waits for the inbox. */
export class FormsTold extends Migration {
  override up(): void {
    this.addSql(`
      create index on submission (created_at);
      create function submission_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(form.site_id) from form where form.id = new.form_id;
        return null;
      end $$;
      create trigger submission_inbox after insert on submission
        for each row execute function submission_inbox();
    `);
  }
}
