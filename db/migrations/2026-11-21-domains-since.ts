import { Migration } from '@mikro-orm/migrations';

/** Since when something of a domain is as it is, whose it is to mend, and that those who wait hear of it. */
export class DomainsSince extends Migration {
  override up(): void {
    this.addSql(`
      -- Since when its registered name is at its parent no more; when its site was last taken from it.
      alter table domain add column absent_since timestamptz, add column detached_at timestamptz;
      update domain set absent_since = checked_at where absent_checks > 0;

      -- Whose the problem is, null where none stands, and since when.
      alter table certificate add column problem_of text check (problem_of in ('owner', 'platform')), add column problem_since timestamptz;
      update certificate set problem_of = 'platform', problem_since = created_at where problem is not null;

      drop trigger domain_inbox on domain;
      create trigger domain_inbox after insert on domain for each row execute function domain_inbox();
      create trigger domain_moved_inbox after update on domain for each row
        when ((old.status, old.site_id, old.checked_at is null) is distinct from (new.status, new.site_id, new.checked_at is null))
        execute function domain_inbox();

      create function certificate_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(account_id) from domain where id = new.domain_id;
        return null;
      end $$;
      create trigger certificate_inbox after update on certificate for each row
        when (new.domain_id is not null
          and (old.status, old.problem, old.problem_of, old.chain is null) is distinct from (new.status, new.problem, new.problem_of, new.chain is null))
        execute function certificate_inbox();
    `);
  }
}
