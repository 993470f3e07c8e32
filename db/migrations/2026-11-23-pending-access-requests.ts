import { Migration } from '@mikro-orm/migrations';

/** Several access requests may be pending for one address, counted by the network that they came from. */
export class PendingAccessRequests extends Migration {
  override up(): void {
    this.addSql(`
      alter table access_request
        add column network text,
        add column mailed boolean not null default true,
        add column end_reason text;
      drop index access_request_one_open;
      create index access_request_open on access_request (email) where status = 'pending';
      alter table signin_link add column network text;
    `);
  }
}
