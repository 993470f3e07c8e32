import { Migration } from '@mikro-orm/migrations';

/** A number of each site that its build caches belong to: a higher one makes earlier caches unusable. */
export class CacheEpochs extends Migration {
  override up(): void {
    this.addSql(`alter table site add column cache_epoch integer not null default 0;`);
  }
}
