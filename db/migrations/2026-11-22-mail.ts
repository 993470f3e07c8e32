import { Migration } from '@mikro-orm/migrations';

/** Queued, sent and failed mails. */
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
        -- Mails of a blocked account wait. No foreign keys, so that queueing a mail waits for no lock on a site.
        site_id text,
        account_id text,
        -- The address and the text are deleted after the last attempt.
        check ((status = 'queued') = (sealed is not null)),
        check ((status = 'queued') = (settled_at is null)),
        check ((status = 'failed') = (failure is not null))
      );
      create index mail_queued on mail (created_at) where status = 'queued';
      create index mail_settled on mail (settled_at) where settled_at is not null;
    `);
  }
}
