import { Migration } from '@mikro-orm/migrations';

/** Comment threads and their messages. */
export class Comments extends Migration {
  override up(): void {
    this.addSql(`
      create table comment_thread (
        id text primary key,
        site_id text not null references site,
        status text not null check (status in ('open', 'resolved')),
        page text not null check (page like '/%'),
        position jsonb,
        deployment_id text references deployment,
        picture_sha256 text,
        picture_type text,
        picture_missing text,
        created_at timestamptz not null,
        changed_at timestamptz not null,
        resolved_at timestamptz,
        check ((status = 'resolved') = (resolved_at is not null)),
        -- There is a picture, or a reason why there is none.
        check ((picture_sha256 is null) <> (picture_missing is null)),
        check ((picture_sha256 is null) = (picture_type is null))
      );
      create index on comment_thread (site_id, id desc);
      create index on comment_thread (site_id) where status = 'open';
      create index on comment_thread (site_id, changed_at);

      create table comment_message (
        id text primary key,
        thread_id text not null references comment_thread,
        account_id text not null references account,
        author_kind text not null check (author_kind in ('owner', 'collaborator', 'agent')),
        body text not null check (char_length(body) between 1 and 4000),
        created_at timestamptz not null
      );
      create index on comment_message (thread_id, id);

      create trigger comment_inbox after insert or update on comment_thread
        for each row when (new.status = 'open') execute function inbox_changed();
    `);
  }
}
