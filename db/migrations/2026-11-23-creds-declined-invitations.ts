import { Migration } from '@mikro-orm/migrations';

/** When the invited person declined an invitation. Its status is that of a withdrawn one, which frees the address. */
export class DeclinedInvitations extends Migration {
  override up(): void {
    this.addSql('alter table invitation add column declined_at timestamptz');
  }
}
