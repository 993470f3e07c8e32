/**
 * Thousands of visitors from several processes ask several API processes for a few seats, while an API process and the worker are killed.
 * Prints what it took.
 */
import type { ChildProcess } from 'node:child_process';
import { afterAll, expect, test } from 'vitest';
import { createBooking } from '#api/bookings/creation.ts';
import { siteOf } from '#api/bookings/offers.ts';
import { systemClock } from '#runtime/clock.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { createBookingFixture } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { attachAccount, payingEnv } from '#test/payments/fixture.ts';
import { openProcesses } from '#test/stack/processes.ts';
import { until } from '#test/stack/until.ts';
import { createNamespace } from '#test/stack/worker.ts';
import { startMailCatcher } from '#tools/local/mail/catcher.ts';
import { freePort } from '#tools/local/ports.ts';
import type { Orders, Told } from './bookings-visitor.ts';
import { sized } from './size.ts';

const attempts = sized({ short: 1000, long: 10_000 });
const visitorProcesses = 4;
const seatsEach = Math.max(2, Math.round(attempts / 500));
const catcher = await startMailCatcher({ clock: systemClock });
const fixture = await createBookingFixture({
  FRONTAGE_SMTP_URL: catcher.smtpUrl,
  FRONTAGE_RATE_SCALE: '1000000',
  TEMPORAL_NAMESPACE: await createNamespace(),
  ...payingEnv(9),
});
const processes = openProcesses(fixture, { FRONTAGE_SMTP_URL: catcher.smtpUrl, ...payingEnv(9) });
const { killed } = processes;
afterAll(async () => {
  processes.close();
  await fixture.close();
  await catcher.close();
});

/** Sends the visitors out. `onDone` hears how many have their answer. */
async function visit(orders: Orders, onDone: (count: number) => void): Promise<Told[]> {
  const counts = new Map<ChildProcess, number>();
  const each = { ...orders, attempts: Math.ceil(orders.attempts / visitorProcesses) };
  const all = Array.from({ length: visitorProcesses }, async () => {
    const child = processes.start('test/campaigns/bookings-visitor.ts');
    const told = new Promise<Told[]>((resolve) =>
      child.on('message', (message: { done?: number; told?: Told[] }) => {
        if (message.told) resolve(message.told);
        counts.set(child, message.done ?? 0);
        onDone([...counts.values()].reduce((sum, one) => sum + one, 0));
      }),
    );
    child.send(each);
    return await told;
  });
  return (await Promise.all(all)).flat();
}

test('concurrent visitors and kills never oversell seats, and every response is true', {
  timeout: 1_800_000,
}, async () => {
  const calendars = ['a', 'b', 'c', 'd'];
  const [calendar] = timetable().calendars;
  const [service] = timetable().services;
  const priced = { ...service, key: 'paid', price: { amount: 100, currency: 'EUR' } };
  const { owner, publicId, site } = await fixture.newBookable({
    calendars: calendars.map((key) => ({ ...calendar, key, capacity: seatsEach })),
    services: [service, priced].map((one) => ({ ...one, calendar_keys: calendars })),
  });
  await attachAccount(fixture, owner, site.id);
  const starts = (await fixture.slots(publicId, fixture.dateIn(9), '&calendar=a'))
    .slice(0, 10)
    .map((slot) => slot.start);
  // Holds that stand throughout, and holds that ran out and that nobody has written down.
  const em = () => fixture.deps.em();
  const hold = async (start: string, calendarKey: string, at: number) => {
    const input = {
      service: 'paid',
      calendar: calendarKey,
      start: new Date(start),
      seats: 1,
      visitor: { name: 'H', email: `h${at}@example.org` },
      intake: {},
    };
    const made = { id: newId('book'), cancelSecret: newSecret('frc') };
    return (await createBooking(em(), fixture.deps, await siteOf(em(), publicId), input, made)).id;
  };
  const standing: string[] = [];
  const over: string[] = [];
  for (const [at, start] of starts.entries()) {
    standing.push(await hold(start, 'a', at));
    over.push(await hold(start, 'b', 100 + at));
  }
  await em().execute(`update booking set hold_expires_at = ? where id = any(?)`, [
    new Date(fixture.clock.now().getTime() - 1),
    `{${over.join(',')}}`,
  ]);
  const seats = calendars.length * starts.length * seatsEach - standing.length;

  const ports = [await freePort(), await freePort(), await freePort()];
  const apis = await Promise.all(ports.map(processes.startApi));
  let worker = await processes.startWorker();
  const kills = [0.25, 0.5, 0.7].map((part) => Math.floor(attempts * part));
  const repairs: Promise<unknown>[] = [];
  const acts = [
    async () => {
      await killed(worker);
    },
    async () => {
      await killed(apis[0] as ChildProcess);
      apis[0] = await processes.startApi(ports[0] as number);
    },
    async () => {
      await killed(apis[1] as ChildProcess);
      apis[1] = await processes.startApi(ports[1] as number);
    },
  ];
  const began = performance.now();
  const orders = {
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    publicId,
    calendars,
    starts,
    attempts,
    atOnce: 16,
  };
  const told = await visit(orders, (count) => {
    while (kills.length > 0 && count >= (kills[0] as number)) {
      kills.shift();
      const act = acts.shift();
      if (act) repairs.push(act());
    }
  });
  const tookMs = performance.now() - began;
  await Promise.all(repairs);
  expect([kills.length, repairs.length]).toEqual([0, 3]);

  expect(told).toHaveLength(Math.ceil(attempts / visitorProcesses) * visitorProcesses);
  const codes = Map.groupBy(told, ({ status, code }) => `${status} ${code}`.trim());
  expect([...codes.keys()].sort()).toEqual(['200', '409 slot_taken']);

  const rows = await em().execute<
    { id: string; visitor_name: string; status: string; starts_at: string; key: string }[]
  >(
    `select b.id, visitor_name, b.status, starts_at, c.key from booking b join calendar c on c.id = b.calendar_id where b.site_id = ?`,
    [site.id],
  );
  const sold = rows.filter(({ status, visitor_name }) => status === 'confirmed' && visitor_name !== 'H');
  expect(sold).toHaveLength(seats);
  // Who was told yes has that seat; who was told no has none, also where his first call died half-way.
  const promised = told
    .filter(({ status }) => status === 200)
    .map(({ name, id, start, calendar }) => [name, id, Date.parse(start), calendar].join());
  const had = sold.map((row) => [row.visitor_name, row.id, Date.parse(row.starts_at), row.key].join());
  expect(had.sort()).toEqual(promised.sort());
  const statuses = (ids: string[]) => rows.filter(({ id }) => ids.includes(id)).map(({ status }) => status);
  expect(new Set(statuses(standing))).toEqual(new Set(['held']));
  expect(new Set(statuses(over))).toEqual(new Set(['expired']));
  for (const key of calendars)
    expect(await fixture.slots(publicId, fixture.dateIn(9), `&calendar=${key}`)).not.toContainEqual(
      expect.objectContaining({ start: starts[0] }),
    );

  console.info(
    `${told.length} attempts at ${seats} seats from ${visitorProcesses} processes: ${sold.length} sold, ${told.length - sold.length} refused, ${Math.round(tookMs)} ms`,
  );

  // The worker that died is followed by another one, and every mail goes out, those that were in the dead one's hands too.
  worker = await processes.startWorker();
  const mailsOf = async (...kinds: string[]) =>
    (await em().execute('select 1 from mail where kind = any(?)', [`{${kinds.join(',')}}`])).length;
  expect(await mailsOf('booking-confirmed', 'booking-taken')).toBe(2 * seats);
  expect(await mailsOf('booking-held')).toBe(standing.length + over.length);
  const waiting = () => em().execute(`select 1 from mail where status = 'queued'`);
  await until(waiting, ({ length }) => length === 0, 300_000);
  // The pay link of a hold that ran out is not sent.
  const failed = `select 1 from mail where status = 'failed' and kind <> 'booking-held'`;
  expect(await em().execute(failed)).toEqual([]);
});
