import { Migration } from '@mikro-orm/migrations';

/** Forms, submissions, and used proof-of-work challenges. */
export class Forms extends Migration {
  override up(): void {
    this.addSql(`
      create table form (
        id text primary key,
        site_id text not null references site,
        name text not null,
        status text not null check (status in ('enabled', 'disabled')),
        fields jsonb not null check (jsonb_typeof(fields) = 'array'),
        -- The collaborator who is notified, or null for the owner. The foreign key falls back to the owner when a collaborator leaves.
        notify_collaborator_id text,
        created_at timestamptz not null,
        foreign key (site_id, notify_collaborator_id) references collaborator (site_id, account_id)
          on delete set null (notify_collaborator_id)
      );
      create index on form (site_id, id desc);
      create index on form (site_id, notify_collaborator_id) where notify_collaborator_id is not null;

      create table submission (
        id text primary key,
        form_id text not null references form on delete cascade,
        -- A list of [name, value] in the order of the form; an object would lose the order.
        "values" jsonb not null check (jsonb_typeof("values") = 'array'),
        page text,
        -- Null where the installation sends no mail.
        mail_id text references mail,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index on submission (form_id, id desc);
      create index on submission (expires_at);
      create index on submission (mail_id) where mail_id is not null;
      create index on submission (created_at);
      create function submission_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(form.site_id) from form where form.id = new.form_id;
        return null;
      end $$;
      create trigger submission_inbox after insert on submission
        for each row execute function submission_inbox();

      -- A challenge is accepted once. After it expires it is refused anyway.
      create table used_challenge (
        hash bytea primary key,
        expires_at timestamptz not null
      );
      create index on used_challenge (expires_at);
    `);
  }
}
