import { Migration } from '@mikro-orm/migrations';

/** Who asked for a sign-in link, and until when the code is valid that its page shows. */
export class SigninCodes extends Migration {
  override up(): void {
    this.addSql(`
      alter table signin_link
        add column asked_browser text,
        add column asked_from text,
        add column code_expires_at timestamptz;
    `);
  }
}
