import { Migration } from '@mikro-orm/migrations';

/** Which scans read all that they had to. Of those before, nobody knows: what their versions hold is read once more. */
export class ScansWhole extends Migration {
  override up(): void {
    this.addSql(`
      alter table deployment add column scanned_whole boolean not null default false;
      drop index deployment_scanned;
      create index deployment_scanned on deployment (site_id, scanned_at) where scanned_whole;
    `);
  }
}
