import { Migration } from '@mikro-orm/migrations';

/** The token that made the link to a payout account's onboarding, which ends with it. */
export class OnboardingMadeBy extends Migration {
  override up(): void {
    this.addSql(`
      alter table payout_onboarding add column made_by text;
      create index on payout_onboarding (made_by) where made_by is not null;
    `);
  }
}
