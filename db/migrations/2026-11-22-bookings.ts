import { Migration } from '@mikro-orm/migrations';

/** Timetables, calendars and bookings. A trigger enforces the capacity of a calendar. */
export class Bookings extends Migration {
  override up(): void {
    this.addSql(`
      create table bookable (
        site_id text primary key references site,
        services jsonb not null check (jsonb_typeof(services) = 'array'),
        -- As on a form: a collaborator, or null for the owner.
        notify_collaborator_id text,
        declared_at timestamptz not null,
        ended_at timestamptz,
        foreign key (site_id, notify_collaborator_id) references collaborator (site_id, account_id)
          on delete set null (notify_collaborator_id)
      );
      create index on bookable (site_id, notify_collaborator_id) where notify_collaborator_id is not null;

      -- Never deleted: bookings refer to it.
      create table calendar (
        id text primary key,
        site_id text not null references site,
        key text not null,
        name text not null,
        position integer not null,
        capacity integer not null check (capacity between 1 and 10000),
        time_zone text not null,
        hours jsonb not null,
        exceptions jsonb not null,
        -- Incremented with each reservation, so that two transactions can never both miss the other's seats.
        seatings bigint not null default 0,
        created_at timestamptz not null,
        archived_at timestamptz,
        unique (site_id, key)
      );

      create table booking (
        id text primary key,
        site_id text not null references site,
        calendar_id text not null references calendar,
        reference text not null,
        status text not null check (status in ('held', 'confirmed', 'cancelled', 'expired')),
        service_key text not null,
        service_name text not null,
        starts_at timestamptz not null,
        ends_at timestamptz not null check (ends_at > starts_at),
        -- Includes the service's buffers. The limit of 4 days bounds the search for overlaps by busy_from.
        busy_from timestamptz not null check (busy_from <= starts_at),
        busy_until timestamptz not null check (busy_until >= ends_at and busy_until - busy_from <= interval '4 days'),
        seats integer not null check (seats >= 1),
        visitor_name text not null,
        visitor_hash bytea not null,
        -- The address of a visitor who has yet to pay, encrypted.
        visitor_sealed bytea check (visitor_sealed is null or status = 'held' or payment_id is not null),
        intake jsonb not null,
        price jsonb,
        payment_id text,
        hold_expires_at timestamptz check (status <> 'held' or hold_expires_at is not null),
        cancel_hash bytea not null unique,
        mail_id text references mail,
        created_at timestamptz not null,
        cancelled_at timestamptz check ((status = 'cancelled') = (cancelled_at is not null)),
        -- A checkout session is open: the seat stays reserved until it is closed, even past hold_expires_at.
        paying boolean not null default false check (not paying or payment_id is not null),
        unique (site_id, reference),
        foreign key (payment_id) references payment
      );
      create index on booking (site_id, id desc);
      create index booking_seated on booking (calendar_id, busy_from) where status in ('held', 'confirmed');
      create index booking_holds on booking (visitor_hash) where status = 'held';
      create index booking_due on booking (hold_expires_at) where status = 'held';
      create index on booking (mail_id) where mail_id is not null;
      create unique index on booking (payment_id) where payment_id is not null;
      create index booking_reachable on booking (hold_expires_at) where visitor_sealed is not null;

      create trigger booking_inbox after insert or update of status on booking
        for each row when (new.status = 'confirmed') execute function inbox_changed();

      -- The last guard of the capacity, whatever code reserves seats: locks the calendar's row and checks the peak occupancy. An overdue
      -- hold still counts until it is marked as expired, which code that reserves seats does first.
      create function booking_seats() returns trigger language plpgsql as $$
      declare
        room integer;
        peak bigint;
      begin
        if tg_op = 'UPDATE' and old.status in ('held', 'confirmed') and new.seats <= old.seats and new.calendar_id = old.calendar_id
          and new.busy_from >= old.busy_from and new.busy_until <= old.busy_until then
          return null;
        end if;
        update calendar set seatings = seatings + 1 where id = new.calendar_id returning capacity into room;
        select max(level) into peak from (
          select sum(change) over (order by at, change) as level from (
            select greatest(busy_from, new.busy_from) as at, seats as change from booking
              where calendar_id = new.calendar_id and status in ('held', 'confirmed')
                and busy_from > new.busy_from - interval '4 days' and busy_from < new.busy_until and busy_until > new.busy_from
            union all
            select busy_until, -seats from booking
              where calendar_id = new.calendar_id and status in ('held', 'confirmed')
                and busy_from > new.busy_from - interval '4 days' and busy_from < new.busy_until and busy_until > new.busy_from
          ) changes
        ) levels;
        if peak > room then
          raise exception 'a calendar of % seats cannot seat %', room, peak using errcode = 'check_violation', constraint = 'booking_seats';
        end if;
        return null;
      end $$;
      create constraint trigger booking_seats after insert or update on booking
        for each row when (new.status in ('held', 'confirmed')) execute function booking_seats();
    `);
  }
}
