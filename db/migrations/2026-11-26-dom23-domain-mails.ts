import { Migration } from '@mikro-orm/migrations';

/** When a domain's account was last e-mailed that it is live, that its DNS is wrong, or that its proof is missing. */
export class DomainMails extends Migration {
  override up(): void {
    this.addSql(`
      alter table domain add live_mailed_at timestamptz, add trouble_mailed_at timestamptz, add proof_mailed_at timestamptz;
      -- What began before is no news.
      update domain set live_mailed_at = created_at where status <> 'pending';
      update domain set trouble_mailed_at = status_since where status in ('Moved', 'Deleted');
      update domain set proof_mailed_at = unproved_since where unproved_checks >= 3;
      create index mail_of_accounts on mail (account_id, created_at) where account_id is not null;
    `);
  }
}
