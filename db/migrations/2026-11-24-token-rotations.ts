import { Migration } from '@mikro-orm/migrations';

/** How often a token was rotated, so that what its old secret opened ends. */
export class TokenRotations extends Migration {
  override up(): void {
    this.addSql('alter table token add column rotations integer not null default 0');
  }
}
