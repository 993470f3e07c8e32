/** The database's own guard: seats are never oversold, whatever code writes the rows, at any isolation level. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { newId } from '#runtime/ids.ts';
import { createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

const fixture = await createBookingFixture();
afterAll(() => fixture.close());

async function calendar(capacity: number): Promise<{ site: string; calendar: string }> {
  const { site } = await fixture.newBookable(timetable({ calendar: { capacity } }));
  const [row] = await fixture.deps
    .em()
    .execute<{ id: string }[]>('select id from calendar where site_id = ?', [site.id]);
  return { site: site.id, calendar: row?.id ?? '' };
}

type Seat = { from: number; until: number; seats?: number; status?: string };
const hour = (at: number) => new Date(Date.UTC(2031, 0, 1) + at * 3600_000);

/** A row as no code of ours would write it: without a lock and without a look. */
function insert(client: Pick<pg.ClientBase, 'query'>, place: { site: string; calendar: string }, seat: Seat) {
  const { from, until, seats = 1, status = 'confirmed' } = seat;
  const hold = status === 'held' ? hour(100) : null;
  return client.query(
    `insert into booking (id, site_id, calendar_id, reference, status, service_key, service_name, starts_at, ends_at, busy_from, busy_until,
       seats, visitor_name, visitor_hash, intake, cancel_hash, created_at, hold_expires_at)
     values ($1, $2, $3, $4, $5, 'talk', 'Talk', $6, $7, $6, $7, $8, 'V', $9, '[]', $10, now(), $11)`,
    [
      newId('book'),
      place.site,
      place.calendar,
      randomBytes(6).toString('hex'),
      status,
      hour(from),
      hour(until),
      seats,
      Buffer.alloc(32),
      randomBytes(32),
      hold,
    ],
  );
}

async function withClients<Result>(count: number, act: (clients: pg.Client[]) => Promise<Result>): Promise<Result> {
  const clients = Array.from({ length: count }, () => new pg.Client({ connectionString: fixture.database.url }));
  await Promise.all(clients.map((client) => client.connect()));
  try {
    return await act(clients);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}
const one = <Result>(act: (client: pg.Client) => Promise<Result>) =>
  withClients(1, ([client]) => act(client as pg.Client));

test('a booking that would oversell is refused, and one that only adjoins is not', async () => {
  const place = await calendar(2);
  await one(async (client) => {
    await insert(client, place, { from: 0, until: 3 });
    await insert(client, place, { from: 2, until: 5 });
    await expect(insert(client, place, { from: 2, until: 3 })).rejects.toMatchObject({ constraint: 'booking_seats' });
    await expect(insert(client, place, { from: 1, until: 9, status: 'held' })).rejects.toMatchObject({ code: '23514' });
    await insert(client, place, { from: 3, until: 4 });
    await insert(client, place, { from: 5, until: 6, seats: 2 });
    await expect(insert(client, place, { from: 4, until: 6 })).rejects.toMatchObject({ constraint: 'booking_seats' });
    await insert(client, place, { from: 0, until: 9, seats: 7, status: 'expired' });
  });
});

test('a booking that returns, grows or moves needs free seats; a confirmation does not', async () => {
  const place = await calendar(1);
  await one(async (client) => {
    await insert(client, place, { from: 0, until: 1 });
    await insert(client, place, { from: 0, until: 1, status: 'expired' });
    await insert(client, place, { from: 1, until: 2, status: 'held' });
    const update = (set: string, where: string) =>
      client.query(`update booking set ${set} where calendar_id = $1 and ${where}`, [place.calendar]);
    await expect(update(`status = 'confirmed'`, `status = 'expired'`)).rejects.toMatchObject({
      constraint: 'booking_seats',
    });
    await expect(update('seats = 2', `status = 'confirmed'`)).rejects.toMatchObject({ constraint: 'booking_seats' });
    await expect(update(`busy_from = busy_from - interval '30 minutes'`, `status = 'held'`)).rejects.toMatchObject({
      constraint: 'booking_seats',
    });
    await client.query('update calendar set capacity = 1 where id = $1', [place.calendar]);
    expect((await update(`status = 'confirmed'`, `status = 'held'`)).rowCount).toBe(1);
  });
});

test.each(['read committed', 'repeatable read', 'serializable'])(
  'of 24 concurrent unchecked transactions at %s, as many succeed as there are seats',
  async (isolation) => {
    const place = await calendar(5);
    const outcomes = await withClients(24, async (clients) => {
      await Promise.all(
        clients.map(async (client) => {
          await client.query(`begin isolation level ${isolation}`);
          // The snapshot is taken here, before anybody has written.
          await client.query('select count(*) from booking');
        }),
      );
      return await Promise.all(
        clients.map(async (client) => {
          try {
            await insert(client, place, { from: 0, until: 1 });
            await client.query('commit');
            return 'in';
          } catch (error) {
            await client.query('rollback');
            return (error as { code: string }).code;
          }
        }),
      );
    });
    const got = outcomes.filter((one) => one === 'in').length;
    // Where a snapshot is kept, who waited for another's row has to begin anew.
    expect(isolation === 'read committed' ? got === 5 : got >= 1 && got <= 5).toBe(true);
    expect(new Set(outcomes)).toEqual(new Set(['in', isolation === 'read committed' ? '23514' : '40001']));
  },
);
