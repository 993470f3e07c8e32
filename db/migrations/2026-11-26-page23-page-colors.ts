import { Migration } from '@mikro-orm/migrations';

/** The owner's two colours and text on the platform's pages of a site. */
export class PageColors extends Migration {
  override up(): void {
    this.addSql(`
      -- { accent, background }, or null for the usual colours.
      alter table site add column colors jsonb;
      -- What visitors without JavaScript read on the booking page.
      alter table bookable add column fallback text;
    `);
  }
}
