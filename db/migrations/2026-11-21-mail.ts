import { Migration } from '@mikro-orm/migrations';

/** Mails that wait, were sent or were given up. */
export class Mail extends Migration {
  override up(): void {
    this.addSql(`
      create table mail (
        id text primary key,
        kind text not null,
        status text not null check (status in ('queued', 'sent', 'failed')),
        sealed bytea,
        failure text,
        created_at timestamptz not null,
        settled_at timestamptz,
        -- Whose address it is, and what was said, is forgotten with the last try.
        check ((status = 'queued') = (sealed is not null)),
        check ((status = 'queued') = (settled_at is null)),
        check ((status = 'failed') = (failure is not null))
      );
      create index mail_queued on mail (created_at) where status = 'queued';
      create index mail_settled on mail (settled_at) where settled_at is not null;
    `);
  }
}
