import { Migration } from '@mikro-orm/migrations';

/** Which sites are deleted together with their account: restoring it restores these, and no others. */
export class DeletedWithAccount extends Migration {
  override up(): void {
    this.addSql(`
      alter table site add column deleted_with_account boolean not null default false;
      update site set deleted_with_account = true from account
        where account.id = site.account_id and site.delete_at = account.delete_at;
    `);
  }
}
