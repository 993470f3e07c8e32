import { Migration } from '@mikro-orm/migrations';

/** Collaborators of sites, and invitations. */
export class Collaborators extends Migration {
  override up(): void {
    this.addSql(`
      create table collaborator (
        site_id text not null references site,
        account_id text not null references account,
        since timestamptz not null,
        primary key (site_id, account_id)
      );
      create index on collaborator (account_id);

      create table invitation (
        id text primary key,
        site_id text not null references site,
        email text not null check (email = lower(email)),
        status text not null check (status in ('open', 'accepted', 'withdrawn', 'expired')),
        mail_id text not null references mail,
        account_id text references account,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        answered_at timestamptz,
        check ((status = 'accepted') = (account_id is not null)),
        check ((status in ('accepted', 'withdrawn')) = (answered_at is not null))
      );
      -- An expired invitation occupies its address until it is withdrawn.
      create unique index invitation_one_slot on invitation (site_id, email) where status in ('open', 'expired');
      create index on invitation (site_id, id desc);
      create index on invitation (email, id desc);
      create index on invitation (mail_id);

      -- The owner is never a collaborator, whatever races.
      create function collaborator_is_another() returns trigger language plpgsql as $$
      begin
        if exists (select 1 from site where id = new.site_id and account_id = new.account_id) then
          raise exception 'the owner of a site cannot be its collaborator' using errcode = 'check_violation';
        end if;
        return new;
      end $$;
      create trigger collaborator_is_another before insert or update on collaborator
        for each row execute function collaborator_is_another();

      -- A new collaborator's inbox contains everything that is open on the site.
      create trigger collaborator_inbox after insert on collaborator
        for each row execute function account_inbox();
      create function invitation_inbox() returns trigger language plpgsql as $$
      begin
        perform tell_inbox(account.id) from account where account.email = new.email;
        return null;
      end $$;
      create trigger invitation_inbox after insert on invitation
        for each row execute function invitation_inbox();
    `);
  }
}
