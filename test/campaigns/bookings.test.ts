/**
 * Thousands of visitors from several processes ask several API processes for a few seats, free and paid, while bookings are moved and cancelled, and
 * API processes and workers are killed. Prints how far it is, and what it took.
 */
import type { ChildProcess } from 'node:child_process';
import { afterAll, expect, test } from 'vitest';
import { checkLedger } from '#activities/ledger.ts';
import { createBooking } from '#api/bookings/creation.ts';
import { siteOf } from '#api/bookings/offers.ts';
import { systemClock } from '#runtime/clock.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import type { Caller } from '#test/api/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { attachConnected, createPayingFixture, payingEnv } from '#test/payments/fixture.ts';
import { calm, storm, travelling, unfinishedMoney } from '#test/payments/time-travel.ts';
import { openProcesses } from '#test/stack/processes.ts';
import { until } from '#test/stack/until.ts';
import { createNamespace } from '#test/stack/worker.ts';
import { startMailCatcher } from '#tools/local/mail/catcher.ts';
import { completeAccount } from '#tools/local/payments/accounts.ts';
import { freePort } from '#tools/local/ports.ts';
import { openChanges } from './bookings/changes.ts';
import {
  bookingRows,
  countSeats,
  requireNeverOversold,
  requireOnce,
  requireTrueAnswers,
  requireTrueMails,
  requireTrueValues,
} from './bookings/checks.ts';
import { sendVisitors } from './bookings/visitors.ts';
import { sized } from './size.ts';

const attempts = sized({ short: 1000, long: 10_000 });
/** How many times a worker and an API process are killed, in turn. */
const killsMax = sized({ short: 4, long: 16 });
/** One change of a booking for so many attempts. */
const attemptsPerChange = sized({ short: 25, long: 10 });
const calendars = ['a', 'b', 'c', 'd'];
const seatsEach = sized({ short: 2, long: 5 });
const settlingMs = 600_000;

const ports = [await freePort(), await freePort(), await freePort()];
const urls = ports.map((port) => `http://127.0.0.1:${port}`);
const catcher = await startMailCatcher({ clock: systemClock, keptMax: 100_000 });
const fixture = await createPayingFixture(
  {
    FRONTAGE_SMTP_URL: catcher.smtpUrl,
    FRONTAGE_RATE_SCALE: '1000000',
    TEMPORAL_NAMESPACE: await createNamespace(),
  },
  { at: urls[0] as string },
);
const standInPort = Number(new URL(fixture.stub.url).port);
const processes = openProcesses(fixture, { FRONTAGE_SMTP_URL: catcher.smtpUrl, ...payingEnv(standInPort) });
afterAll(async () => {
  processes.close();
  await fixture.close();
  await catcher.close();
});
const em = () => fixture.deps.em();

/** A site whose bookings are free, or cost money that goes to a connected account. */
async function newSite() {
  const [calendar] = timetable().calendars;
  const [service] = timetable().services;
  const priced = { ...service, key: 'paid', price: { amount: 100, currency: 'EUR' }, hold_minutes: 1440 };
  const made = await fixture.newBookable({
    calendars: calendars.map((key) => ({ ...calendar, key, capacity: seatsEach })),
    services: [service, priced].map((one) => ({ ...one, calendar_keys: calendars })),
  });
  await attachConnected(fixture, made.owner, made.site.id);
  const { stub } = fixture.stub;
  for (const one of stub.objects.values()) if (one.byPlatform) completeAccount(stub, one.id);
  const starts = (await fixture.slots(made.publicId, fixture.dateIn(9), '&calendar=a')).slice(0, 10);
  return { ...made, starts: starts.map(({ start }) => start) };
}

type Site = Awaited<ReturnType<typeof newSite>>;

/** Holds that stand throughout, one for each time, and holds that ran out and that nobody has written down. */
async function newHolds({ publicId, starts }: Site) {
  const hold = async (start: string, calendar: string, at: number) => {
    const visitor = { name: 'H', email: `h${at}@example.org` };
    const input = { service: 'paid', calendar, start: new Date(start), seats: 1, visitor, intake: {} };
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
  return { standing, over };
}

/** Kills a worker and an API process in turn, at even distances, and starts each anew. */
async function startKilling() {
  const apis = await Promise.all(ports.map(processes.startApi));
  let worker = await processes.startWorker();
  let kills = 0;
  let last = Promise.resolve();
  async function killOne(nth: number): Promise<void> {
    if (nth % 2 === 0) {
      await processes.killed(worker);
      worker = await processes.startWorker();
    } else {
      const which = Math.floor(nth / 2) % apis.length;
      await processes.killed(apis[which] as ChildProcess);
      apis[which] = await processes.startApi(ports[which] as number);
    }
  }
  return {
    count: () => kills,
    follow(done: number): void {
      while (kills < killsMax && done >= (attempts * (kills + 1)) / (killsMax + 2)) {
        const nth = kills++;
        last = last.then(() => killOne(nth));
        last.catch(() => {});
      }
    },
    done: () => last,
  };
}

/** The seats that the API offers, and those that are taken in the database, are all there are. Returns how many are taken. */
async function requireExactSeats({ publicId, site, starts }: Site): Promise<number> {
  const places = async () => {
    const rows = await bookingRows(em(), site.id);
    const live = rows.filter(({ status }) => status === 'confirmed' || status === 'held');
    const taken = Map.groupBy(live, (row) => `${row.key} ${Date.parse(row.starts_at)}`);
    const all: { key: string; start: string; taken: number; left: number }[] = [];
    for (const key of calendars) {
      const open = await fixture.slots(publicId, fixture.dateIn(9), `&calendar=${key}`);
      for (const start of starts) {
        const left = open.find((slot) => slot.start === start)?.seats_left ?? 0;
        all.push({ key, start, taken: taken.get(`${key} ${Date.parse(start)}`)?.length ?? 0, left });
      }
    }
    return all;
  };
  // The two are read one after the other, while the last payments arrive.
  const exact = await until(places, (all) => all.every(({ taken, left }) => taken + left === seatsEach), settlingMs);
  return exact.reduce((sum, { taken }) => sum + taken, 0);
}

/** `mail` of every booking, as the owner reads it. */
async function mailValues(owner: Caller, siteId: string): Promise<Map<string, string | null>> {
  const values = new Map<string, string | null>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const { body } = await owner.call('GET', `/v1/sites/${siteId}/bookings?limit=100${more}`);
    for (const { id, mail } of body.items) values.set(id, mail);
    cursor = body.next_cursor;
  }
  return values;
}

/** Calm, and every hold over: what was begun is finished, and nothing waits any more. */
async function settle(siteId: string, close: (paymentId: string) => Promise<unknown>): Promise<void> {
  Object.assign(fixture.stub.knobs, calm);
  const held = () =>
    em().execute<{ payment_id: string }[]>(`select payment_id from booking where site_id = ? and status = 'held'`, [
      siteId,
    ]);
  for (const { payment_id: id } of await held()) await close(id);
  await until(held, ({ length }) => length === 0, settlingMs);
  await fixture.stub.settled();
  const finish = async () => {
    await checkLedger(fixture.deps);
    return await unfinishedMoney(fixture);
  };
  await until(finish, (left) => left.every((count) => count === 0), settlingMs);
  const waiting = () => em().execute(`select id, kind from mail where status = 'queued'`);
  await until(waiting, ({ length }) => length === 0, settlingMs);
}

test('concurrent visitors, changes and kills never oversell, overcharge or deceive', {
  timeout: 7_200_000,
}, async () => {
  const made = await newSite();
  const { owner, publicId, site, starts } = made;
  await countSeats(em());
  const { standing, over } = await newHolds(made);
  const killing = await startKilling();
  const changes = openChanges({ fixture, owner, siteId: site.id, urls, starts, calendars, messages: catcher.messages });
  Object.assign(fixture.stub.knobs, { ...storm, turnAway: 0.03, loseAnswers: 0.03 });
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  let [changed, reported] = [0, 0];
  const orders = { urls, publicId, calendars, starts, attempts, atOnce: 16, paidShare: 0.3 };
  const onDone = (count: number) => {
    killing.follow(count);
    for (; changed < count / attemptsPerChange; changed++) changes.next();
    if (count < reported + attempts / 20) return;
    reported = count;
    console.info(`${count} of ${attempts} attempts after ${seconds()} s, ${killing.count()} kills`);
  };
  const told = await sendVisitors(processes, orders, { from: 4, onDone });
  const tookSeconds = seconds();
  await Promise.all([killing.done(), changes.done()]);
  console.info(`settling, after ${seconds()} s`);
  expect(killing.count()).toBe(killsMax);
  const statuses = async (ids: string[]) =>
    new Set((await bookingRows(em(), site.id)).filter(({ id }) => ids.includes(id)).map(({ status }) => status));
  expect([await statuses(standing), await statuses(over)]).toEqual([new Set(['held']), new Set(['expired'])]);
  const seats = await requireExactSeats(made);

  await settle(site.id, (id) => changes.call('POST', `/v1/payments/${id}/expire`));
  const rows = await bookingRows(em(), site.id);
  const visitors = rows.filter(({ visitor_name: name }) => name !== 'H');
  const counts = await requireNeverOversold(em());
  requireTrueAnswers(told, visitors, changes);
  await requireExactSeats(made);
  const money = requireOnce(fixture, told, visitors);
  const ledger = await travelling(fixture, { random: Math.random, journeys: 0 }).requireTrueLedger();
  const received = catcher.messages();
  const mails = await requireTrueMails(em(), received);
  await requireTrueValues(await mailValues(owner, site.id), rows, received);

  const done = told.filter(({ status }) => status === 200).length;
  const took = { seconds: tookSeconds, kills: killing.count(), counts, taken: seats };
  console.info(
    JSON.stringify({
      attempts: told.length,
      seats: calendars.length * starts.length * seatsEach,
      booked: done,
      refused: told.length - done,
      ...took,
      changes: changes.counts,
      ...money,
      payments: ledger.states,
      mails,
    }),
  );
});
