/** Seats held until payment, before any page is opened: tested by the rule itself, not over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBooking } from '#api/bookings/creation.ts';
import { siteOf } from '#api/bookings/offers.ts';
import { Booking } from '#db/bookings/booking.ts';
import { settleHold, sweepHolds } from '#db/bookings/holds.ts';
import { confirmPaid, expireDueHolds, lockCalendars } from '#db/bookings/seats.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { AppError } from '#runtime/errors.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { errorOf } from '#test/api/fixture.ts';
import { attachAccount, payingEnv } from '#test/payments/fixture.ts';
import { type ActivityFault, activityFaults } from '#test/publishing/activity-faults.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { aroundActivities, createNamespace, startWorker } from '#test/stack/worker.ts';
import { type BookingFixture, createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

const { around, interceptors } = aroundActivities();

let fixture: BookingFixture;
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeAll(async () => {
  fixture = await createBookingFixture({ TEMPORAL_NAMESPACE: await createNamespace(), ...payingEnv(9) });
  worker = await startWorker(fixture.deps, { interceptors });
});
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
});

const minuteMs = 60_000;
const priced = (more: { calendar?: object; service?: object } = {}) =>
  timetable({ ...more, service: { price: { amount: 2500, currency: 'EUR' }, hold_minutes: 15, ...more.service } });

async function hold(publicId: string, start: string, email = 'ada@example.org', seats = 1) {
  const em = fixture.deps.em();
  const input = { service: 'talk', start: new Date(start), seats, visitor: { name: 'Ada', email }, intake: {} };
  const made = { id: newId('book'), cancelSecret: newSecret('frc') };
  return await createBooking(em, fixture.deps, await siteOf(em, publicId), input, made);
}

/** A site that takes bookings for money. */
async function newPriced(more: Parameters<typeof priced>[0] = {}) {
  const made = await fixture.newBookable(priced(more));
  await attachAccount(fixture, made.owner, made.site.id);
  return made;
}

/** A site with one hold on its first time in five days. */
async function held(more: Parameters<typeof priced>[0] = {}) {
  const made = await newPriced(more);
  const start = (await fixture.slots(made.publicId, fixture.dateIn(5)))[0]?.start ?? '';
  const booking = await hold(made.publicId, start);
  const read = async () => (await made.owner.call('GET', `/v1/bookings/${booking.id}`)).body;
  const isOpen = async () =>
    (await fixture.slots(made.publicId, start.slice(0, 10))).some((one) => one.start === start);
  return { ...made, start, id: booking.id, read, isOpen };
}

const codeOf = async (act: Promise<unknown>) => {
  const error = await act.then(
    () => undefined,
    (thrown) => thrown,
  );
  return error instanceof AppError ? error.code : error;
};
/** The workflow, once its start has been sent. */
async function workflowOf(id: string) {
  const handle = fixture.deps.temporal.workflow.getHandle(workflowIds.holdBooking(id));
  const isThere = () =>
    handle.describe().then(
      () => true,
      () => false,
    );
  await expect.poll(isThere, { timeout: 20_000, interval: 20 }).toBe(true);
  return handle;
}
const row = async (id: string) => await fixture.deps.em().findOneOrFail(Booking, { id });
/** What money does, as `recordCharge` has it done. */
const confirm = (id: string) =>
  fixture.deps.em().transactional(async (tx) => {
    const { calendar } = await tx.findOneOrFail(Booking, { id });
    await lockCalendars(tx, [calendar.id]);
    const booking = await tx.findOneOrFail(Booking, { id }, { populate: ['calendar'], refresh: true });
    return await confirmPaid(tx, fixture.deps, booking);
  });

test('a priced service is held until it is paid, with an encrypted address', async () => {
  const { id, read, isOpen, publicId, start } = await held();
  const shown = await read();
  expect(shown).toMatchObject({
    status: 'held',
    mail: 'queued',
    next_action: expect.stringContaining('The visitor has until'),
  });
  expect(Date.parse(shown.hold_expires_at) - Date.parse(shown.created_at)).toBe(15 * minuteMs);
  expect(await isOpen()).toBe(false);
  expect(await codeOf(hold(publicId, start, 'bob@example.org'))).toBe('slot_taken');
  const { visitorSealed } = await row(id);
  expect(visitorSealed).toBeInstanceOf(Uint8Array);
  expect(Buffer.from(visitorSealed ?? []).toString('latin1')).not.toContain('ada@example.org');
});

test('a paid hold is confirmed with its mails, and keeps only the address’s hash', async () => {
  const { id, read, isOpen } = await held();
  expect(await confirm(id)).toBe(true);
  expect(await read()).toMatchObject({ status: 'confirmed', mail: 'queued' });
  expect(await isOpen()).toBe(false);
  expect((await row(id)).visitorSealed).toBe(null);
  expect(await confirm(id)).toBe(false);
  const { status } = await (await workflowOf(id)).result();
  expect(status).toBe('confirmed');
});

describe('at the instant when a hold expires', () => {
  test('every reader sees the hold as expired with a free seat, before any write', async () => {
    const { id, owner, site, read, isOpen, publicId, start } = await held();
    const { holdExpiresAt } = await row(id);
    const left = (holdExpiresAt?.getTime() ?? 0) - fixture.clock.now().getTime();
    fixture.skip(left - 2000);
    expect([(await read()).status, await isOpen()]).toEqual(['held', false]);
    fixture.skip(2000);
    expect((await row(id)).status).toBe('held');
    expect([(await read()).status, await isOpen()]).toEqual(['expired', true]);
    const list = async (status: string) =>
      (await owner.call('GET', `/v1/sites/${site.id}/bookings?status=${status}`)).body.items.length;
    expect([await list('held'), await list('expired')]).toEqual([0, 1]);
    expect(errorOf(await owner.call('POST', `/v1/bookings/${id}/cancel`)).code).toBe('not_cancellable');
    expect((await hold(publicId, start, 'bob@example.org')).status).toBe('held');
    expect(await confirm(id)).toBe(false);
    // Who took the seat wrote down that it was free.
    expect(await row(id)).toMatchObject({ status: 'expired', visitorSealed: null });
    expect(await read()).toMatchObject({ status: 'expired', cancelled_at: null });
  });
});

test.each(Object.keys(activityFaults) as ActivityFault[])(
  'the workflow records the end of a hold once, when its activity %s',
  async (fault) => {
    const { id, read } = await held();
    fixture.skip(15 * minuteMs);
    around.set('settleHold', activityFaults[fault]);
    const handle = fixture.deps.temporal.workflow.getHandle(workflowIds.holdBooking(id));
    const signalled = async () => {
      await handle.signal('moved').catch(() => {});
      return (await row(id)).status;
    };
    await expect.poll(signalled, { timeout: 20_000, interval: 50 }).toBe('expired');
    expect(await handle.result()).toEqual({ status: 'expired' });
    expect(around.size).toBe(0);
    expect(await row(id)).toMatchObject({ status: 'expired', visitorSealed: null });
    expect((await read()).mail).not.toBe('sent');
  },
);

test('a cancelled hold frees its seat and ends its workflow', async () => {
  const { id, owner, read, isOpen } = await held();
  const { body } = await owner.call('POST', `/v1/bookings/${id}/cancel`);
  expect(body.status).toBe('cancelled');
  expect(await isOpen()).toBe(true);
  expect((await row(id)).visitorSealed).toBe(null);
  expect(await confirm(id)).toBe(false);
  expect((await read()).status).toBe('cancelled');
  const result = await (await workflowOf(id)).result();
  expect(result).toEqual({ status: 'cancelled' });
});

test('a hold ends with the booked time at the latest', async () => {
  const { publicId } = await newPriced({ service: { hold_minutes: 1440 } });
  const days = [fixture.dateIn(0), fixture.dateIn(1)];
  const [slot] = (await Promise.all(days.map((date) => fixture.slots(publicId, date)))).flat();
  const { holdExpiresAt } = await hold(publicId, slot?.start ?? '', 'late@example.org');
  expect(holdExpiresAt).toEqual(new Date(slot?.end ?? ''));
});

test('a visitor has at most five holds over all calendars', async () => {
  const { publicId, owner } = await newPriced({ calendar: { capacity: 50 } });
  const start = (await fixture.slots(publicId, fixture.dateIn(5)))[0]?.start ?? '';
  const tries = await Promise.allSettled(Array.from({ length: 12 }, () => hold(publicId, start, 'greedy@example.org')));
  const made = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect([made.length, new Set(refused.map(({ code }) => code))]).toEqual([5, new Set(['rate_limited'])]);
  expect(refused[0].retryAfterSeconds).toBeGreaterThan(13 * 60);
  expect((await hold(publicId, start, 'modest@example.org')).status).toBe('held');
  await owner.call('POST', `/v1/bookings/${made[0]?.id}/cancel`);
  expect((await hold(publicId, start, 'Greedy@example.org')).status).toBe('held');
  expect(await codeOf(hold(publicId, start, 'greedy@example.org'))).toBe('rate_limited');
  fixture.skip(16 * minuteMs);
  expect((await hold(publicId, start, 'greedy@example.org')).status).toBe('held');
});

test('archiving a site ends its holds', async () => {
  const { id, site, owner, read } = await held();
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  expect((await read()).status).toBe('expired');
  expect((await row(id)).visitorSealed).toBe(null);
});

test('a hold whose workflow was lost keeps no address for long', async () => {
  const { id } = await held();
  await (await workflowOf(id)).terminate('a test');
  fixture.skip(15 * minuteMs + 3600_000 + 1000);
  await sweepHolds(fixture.deps.em(), fixture.clock.now());
  expect(await row(id)).toMatchObject({ status: 'expired', visitorSealed: null });
  expect(await settleHold(fixture.deps.em(), fixture.clock.now(), id)).toEqual({ settled: true, status: 'expired' });
});

test('the sweep of lost holds and a booking of their calendar do not deadlock', async () => {
  const { publicId, start, id } = await held({ calendar: { capacity: 3 } });
  const second = (await hold(publicId, start, 'bob@example.org')).id;
  const third = (await hold(publicId, start, 'eve@example.org')).id;
  const { calendar } = await row(id);
  fixture.skip(15 * minuteMs + 3600_000 + 1000);
  const now = fixture.clock.now();
  const { sweeping } = await fixture.deps.em().transactional(async (tx) => {
    await lockCalendars(tx, [calendar.id]);
    // In whatever order the sweep goes, this one is neither its first nor its last.
    await tx.execute('select 1 from booking where id = ? for update', [second]);
    const sweeping = sweepHolds(fixture.deps.em(), now);
    await untilBlocked(fixture.deps);
    expect(await expireDueHolds(tx, now, { calendar: calendar.id })).toBeGreaterThan(0);
    return { sweeping };
  });
  await sweeping;
  for (const one of [id, second, third]) expect((await row(one)).status).toBe('expired');
});

test('archiving a site keeps its confirmed bookings, and the holds of other sites', async () => {
  const [other, confirmed] = [await held(), await held()];
  await confirm(confirmed.id);
  await confirmed.owner.call('POST', `/v1/sites/${confirmed.site.id}/archive`);
  expect([(await row(confirmed.id)).status, (await row(other.id)).status]).toEqual(['confirmed', 'held']);
});

test('the sweep leaves holds and addresses that are not due', async () => {
  const { id } = await held();
  fixture.skip(14 * minuteMs);
  await sweepHolds(fixture.deps.em(), fixture.clock.now());
  expect(await row(id)).toMatchObject({ status: 'held', visitorSealed: expect.any(Buffer) });
});
