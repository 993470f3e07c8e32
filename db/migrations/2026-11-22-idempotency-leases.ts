import { Migration } from '@mikro-orm/migrations';

/** Which run of a call a key is in the hands of: one that was taken for dead and goes on has no say any more. */
export class IdempotencyLeases extends Migration {
  override up(): void {
    this.addSql(`alter table idempotency_key add column lease integer not null default 1`);
  }
}
