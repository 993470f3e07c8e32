import { Migration } from '@mikro-orm/migrations';

/** Tokens are deleted a while after they have ended. */
export class TokensForgotten extends Migration {
  override up(): void {
    this.addSql(`
      create index token_revoked on token (revoked_at) where revoked_at is not null;
      create index token_expiring on token (expires_at) where expires_at is not null;
    `);
  }
}
