import { Migration } from '@mikro-orm/migrations';

/** The successor of a refresh token, encrypted for a minute, and why a grant ended. */
export class OauthRepeats extends Migration {
  override up(): void {
    this.addSql(`
      alter table oauth_refresh add column successor bytea;
      create index oauth_refresh_successor on oauth_refresh (used_at) where successor is not null;
      alter table oauth_grant add column end_reason text;
    `);
  }
}
