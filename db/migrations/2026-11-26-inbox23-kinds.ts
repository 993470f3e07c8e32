import { Migration } from '@mikro-orm/migrations';

/** What the inbox lists of photos, sketches, agreements and invitations, and the choice among a sketch's directions. */
export class InboxKinds extends Migration {
  override up(): void {
    this.addSql(`
      alter table upload_link add column last_file_at timestamptz, add column last_file_path text;
      create index upload_link_filled on upload_link (site_id, last_file_at) where last_file_at is not null;

      -- The position of the host of the chosen direction.
      alter table sketch add column chosen_position integer, add column chosen_at timestamptz;
      create index sketch_chosen on sketch (account_id, chosen_at) where chosen_at is not null;

      create index payout_agreement_ended on payout_agreement (site_id, ended_at) where ended_at is not null;
      create index invitation_accepted on invitation (site_id, answered_at) where status = 'accepted';
    `);
  }
}
