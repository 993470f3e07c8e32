import { Migration } from '@mikro-orm/migrations';

/** The last use of git credentials, and whether a push with them may publish. */
export class GitCredentials extends Migration {
  override up(): void {
    this.addSql(`
      alter table git_credential
        add column last_used_at timestamptz,
        add column publish boolean not null default false;
      create index on git_credential (site_id, id desc);
      create index on git_credential (account_id);
    `);
  }
}
