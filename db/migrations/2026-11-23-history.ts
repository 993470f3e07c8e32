import { Migration } from '@mikro-orm/migrations';

/** The history of accounts and sites, and how each deployment was created. */
export class History extends Migration {
  override up(): void {
    this.addSql(`
      create table history_entry (
        id text primary key,
        at timestamptz not null,
        -- No foreign keys: an entry outlives what it names.
        owner_id text not null,
        site_id text,
        actor_id text not null,
        elsewhere_id text,
        via_kind text not null,
        via_name text,
        action text not null,
        owners_only boolean not null,
        subject_id text not null,
        subject_name text,
        detail jsonb not null
      );
      create index history_of_owner on history_entry (owner_id, at desc, id desc);
      create index history_of_owner_alone on history_entry (owner_id, at desc, id desc) where site_id is null;
      create index history_of_site on history_entry (site_id, at desc, id desc) where site_id is not null;
      create index history_of_site_shared on history_entry (site_id, at desc, id desc)
        where site_id is not null and not owners_only;
      create index history_elsewhere on history_entry (elsewhere_id, at desc, id desc) where elsewhere_id is not null;
      -- For the sweep alone: no list can be read in its order.
      create index history_by_age on history_entry using brin (at);

      alter table deployment add column created_via text, add column created_via_name text;
    `);
  }
}
