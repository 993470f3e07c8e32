import { Migration } from '@mikro-orm/migrations';

/** A form's own texts, acknowledgements to visitors, and submissions marked as spam. */
export class FormTexts extends Migration {
  override up(): void {
    this.addSql(`
      alter table form
        add column button text,
        add column thanks text,
        add column return_path text,
        add column fallback text,
        add column acknowledgement text,
        -- Whose address visitors reply to, or null for none. Ignored unless it is the owner or a collaborator.
        add column reply_to_id text references account on delete set null;
      create index form_reply_to on form (reply_to_id) where reply_to_id is not null;

      alter table submission
        add column spam boolean not null default false,
        -- The e-mail to the visitor; null where none was queued.
        add column acknowledgement_id text references mail on delete set null;
      create index submission_acknowledgement on submission (acknowledgement_id) where acknowledgement_id is not null;
    `);
  }
}
