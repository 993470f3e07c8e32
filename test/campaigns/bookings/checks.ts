/** What has to be so after a campaign of bookings: seats, answers, money and e-mails, each counted from two sides. */
import { expect } from 'vitest';
import type { EntityManager } from '#db/orm.ts';
import type { PayingFixture } from '#test/payments/fixture.ts';
import type { CaughtMail } from '#tools/local/mail/mailbox.ts';
import type { Changes } from './changes.ts';
import type { Told } from './orders.ts';

export type BookingRow = {
  id: string;
  visitor_name: string;
  status: string;
  starts_at: string;
  key: string;
  payment_id: string | null;
  mail_id: string | null;
};

/** Counts the seats of a time whenever a transaction that changes one commits, whatever the product's own trigger does. */
export async function countSeats(em: EntityManager): Promise<void> {
  await em.execute(`
    create table seat_count (calendar_id text, starts_at timestamptz, taken int, capacity int);
    create function count_seats() returns trigger language plpgsql as $$
    begin
      insert into seat_count select new.calendar_id, new.starts_at, coalesce(sum(b.seats), 0), c.capacity
        from calendar c left join booking b on b.calendar_id = c.id and b.starts_at = new.starts_at
          and (b.status = 'confirmed' or (b.status = 'held' and (b.paying or b.hold_expires_at > clock_timestamp())))
        where c.id = new.calendar_id group by c.capacity;
      return null;
    end $$;
    create constraint trigger count_seats after insert or update on booking deferrable initially deferred
      for each row execute function count_seats()`);
}

/** At no commit were more seats taken than there are, and at some all were. Returns how often they were counted. */
export async function requireNeverOversold(em: EntityManager): Promise<number> {
  const counts = `select count(*)::int as counts, max(taken - capacity)::int as most from seat_count`;
  const [row] = await em.execute<{ counts: number; most: number }[]>(counts);
  expect(row?.most).toBe(0);
  return row?.counts ?? 0;
}

export const bookingRows = (em: EntityManager, siteId: string) =>
  em.execute<BookingRow[]>(
    `select b.id, visitor_name, b.status, starts_at, c.key, payment_id, mail_id
     from booking b join calendar c on c.id = b.calendar_id where b.site_id = ? order by b.id`,
    [siteId],
  );

/**
 * Who was told yes has one booking, where they wanted it or where it was moved; who was told no has none, also where the
 * first call died half-way. What was cancelled is what a cancellation was told of.
 */
export function requireTrueAnswers(told: Told[], rows: BookingRow[], { moved, cancelled }: Changes): void {
  const codes = Map.groupBy(told, ({ status, code }) => `${status} ${code}`.trim());
  expect([...codes.keys()].sort()).toEqual(['200', '409 slot_taken']);
  const line = (name: string, id: string, place: { start: string; calendar: string }) =>
    [name, id, Date.parse(place.start), place.calendar].join();
  const promised = codes.get('200')?.map((one) => line(one.name, one.id, moved.get(one.id) ?? one));
  const had = rows.map((row) => line(row.visitor_name, row.id, { start: row.starts_at, calendar: row.key }));
  expect(had.sort()).toEqual(promised?.sort());
  const ended = rows.filter(({ status }) => status === 'cancelled').map(({ id }) => id);
  expect(ended.sort()).toEqual([...cancelled].sort());
}

/** No payment was charged twice, and each that was given back was so by one refund. Returns how many of each. */
export function requireOnce({ stub }: PayingFixture, told: Told[], rows: BookingRow[]) {
  const objects = [...stub.stub.objects.values()];
  const intents = objects.filter(({ object }) => object === 'payment_intent');
  const charged = Map.groupBy(intents, (one) => (one.metadata as { payment: string }).payment);
  expect([...charged.values()].filter(({ length }) => length > 1)).toEqual([]);
  const refunds = objects.filter(({ object }) => object === 'refund');
  const refunded = Map.groupBy(refunds, (one) => String(one.payment_intent));
  expect([...refunded.values()].filter(({ length }) => length > 1)).toEqual([]);
  // A second press on the same page takes nothing, and no charge is without a press.
  const paid = new Map(told.filter(({ pays }) => pays > 0).map(({ id, pays }) => [id, pays]));
  expect([...paid.values()].filter((pays) => pays > 1)).toEqual([]);
  const paying = rows.filter(({ payment_id: id }) => id !== null && charged.has(id)).map(({ id }) => id);
  expect(paying.sort()).toEqual([...paid.keys()].sort());
  return { charges: intents.length, refunds: refunds.length };
}

type MailRow = { id: string; kind: string; status: string; unanswered: number };

/**
 * Each e-mail that says it was sent was received, and each that was received says so. One whose attempt was killed
 * before the reply says that too: it may have been received once more, or although it was withdrawn before the retry.
 * A mailbox that removes copies by Message-ID has each e-mail once.
 */
export async function requireTrueMails(em: EntityManager, received: CaughtMail[]) {
  const rows = await em.execute<MailRow[]>('select id, kind, status, unanswered from mail');
  const got = Map.groupBy(received, ({ headers }) => /^<(mail_\w+)@/.exec(headers['message-id'] ?? '')?.[1] ?? '');
  const copies = ({ id }: MailRow) => got.get(id)?.length ?? 0;
  expect([...got.keys()].filter((id) => !rows.some((row) => row.id === id))).toEqual([]);
  const lost = rows.filter((row) => row.status === 'sent' && copies(row) === 0);
  const unreported = rows.filter((row) => copies(row) > row.unanswered + (row.status === 'sent' ? 1 : 0));
  expect({ lost, unreported }).toEqual({ lost: [], unreported: [] });
  const count = (some: (row: MailRow) => boolean) => rows.filter(some).length;
  return {
    received: got.size,
    'received twice': count((row) => copies(row) > 1),
    'without a reply once': count(({ unanswered }) => unanswered > 0),
    'not sent': count(({ status }) => status === 'failed'),
  };
}

/** `mail` of each booking, as the API says it, is what the mail server knows. */
export async function requireTrueValues(
  values: Map<string, string | null>,
  rows: BookingRow[],
  received: CaughtMail[],
): Promise<void> {
  const got = new Set(received.map(({ headers }) => /^<(mail_\w+)@/.exec(headers['message-id'] ?? '')?.[1]));
  const expected = rows.map(({ id, mail_id: mail }) => [id, mail && (got.has(mail) ? 'sent' : 'not_sent')]);
  expect(rows.map(({ id }) => [id, values.get(id)])).toEqual(expected);
}
