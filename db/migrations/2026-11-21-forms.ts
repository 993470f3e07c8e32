import { Migration } from '@mikro-orm/migrations';

/** Forms, what visitors sent with them, and the challenges that were used up. */
export class Forms extends Migration {
  override up(): void {
    this.addSql(`
      create table form (
        id text primary key,
        site_id text not null references site,
        name text not null,
        status text not null check (status in ('enabled', 'disabled')),
        fields jsonb not null check (jsonb_typeof(fields) = 'array'),
        -- Who hears of an enquiry: a collaborator, or with null the owner. So it is somebody on the site, whatever is raced: with a
        -- collaborator's right to the site this goes to the owner, and an address that changes is followed.
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
        -- A list of [name, value], in the order of the form: an object would forget it.
        "values" jsonb not null check (jsonb_typeof("values") = 'array'),
        page text,
        -- Null where no mail is sent at all.
        mail_id text references mail,
        created_at timestamptz not null,
        expires_at timestamptz not null
      );
      create index on submission (form_id, id desc);
      create index on submission (expires_at);
      create index on submission (mail_id) where mail_id is not null;

      -- Each is taken once; after its end it would be refused in any case.
      create table used_challenge (
        hash bytea primary key,
        expires_at timestamptz not null
      );
      create index on used_challenge (expires_at);
    `);
  }
}
