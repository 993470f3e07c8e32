/** Bookings that cost money, over the wire: held, paid, confirmed; late, cancelled, given back. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Booking } from '../../db/entities/booking.ts';
import { Mail } from '../../db/entities/mail.ts';
import { openLetter } from '../../db/mail.ts';
import { withPayment } from '../../db/payments.ts';
import { timetable } from '../bookings/timetable.ts';
import { startWorker } from '../stack/worker.ts';
import { attachAccount, createPayingWorld, type PayingWorld } from './world.ts';

let world: PayingWorld;
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeAll(async () => {
  world = await createPayingWorld();
  worker = await startWorker(world.deps);
});
afterAll(async () => {
  await worker?.close();
  await world?.close();
});

const soon = { timeout: 20_000, interval: 50 };
const minuteMs = 60_000;

/** A hold of the one seat there is, fifteen minutes long. */
async function held() {
  const service = { price: { amount: 2500, currency: 'EUR' }, hold_minutes: 15 };
  const made = await world.newBookable(timetable({ service }));
  const account = await attachAccount(world, made.owner, made.site.id);
  const start = (await world.slots(made.publicId, world.dateIn(5)))[0]?.start ?? '';
  const answer = await world.book(made.publicId, start);
  if (answer.status !== 200) throw new Error(`not booked: ${answer.text}`);
  const { id, pay_url, payment_id } = answer.body;
  const read = async () => (await made.owner.call('GET', `/v1/bookings/${id}`)).body;
  return {
    ...made,
    account,
    start,
    id,
    booked: answer.body,
    payUrl: pay_url as string,
    paymentId: payment_id as string,
    read,
    statusOf: async () => (await read()).status,
    payment: world.reading(made.owner, payment_id),
    isOpen: async () => (await world.slots(made.publicId, start.slice(0, 10))).some((one) => one.start === start),
    bookAnother: () => world.book(made.publicId, start, { visitor: { name: 'Bob', email: 'bob@example.org' } }),
  };
}
const row = (id: string) => world.deps.em().findOneOrFail(Booking, { id });
/** The mails of the kind that wait, and to whom. */
const waiting = async (kind: string) =>
  (await world.deps.em().find(Mail, { kind, status: 'queued' } as never)).flatMap(({ id, sealed }) =>
    sealed ? [openLetter({ id, sealed }, world.config.sealing).to] : [],
  );

test('a priced service is held, paid at its link, and confirmed', async () => {
  const { booked, payUrl, read, payment, publicId, isOpen, id } = await held();
  expect(booked).toMatchObject({
    status: 'held',
    pay_url: expect.stringContaining('/pay/pay_'),
    hold_expires_at: expect.any(String),
    next_action: expect.stringContaining('pay_url'),
  });
  expect((await world.anyone('GET', `/b/${publicId}`)).body.services[0]).toMatchObject({ open: true });
  const { page } = await world.openLink(payUrl);
  expect((await row(id)).paying).toBe(true);
  const back = await world.press(page);
  expect(back.text).toContain('Paid and booked');
  expect(back.text).toContain(booked.reference);
  expect(await read()).toMatchObject({ status: 'confirmed', pay_url: null, payment_id: payment.id, mail: 'queued' });
  expect(await payment.statusOf()).toBe('paid');
  expect(await isOpen()).toBe(false);
  await expect.poll(async () => (await row(id)).paying, soon).toBe(false);
  expect((await row(id)).visitorSealed).toBe(null);
});

test('the end of a hold closes its page before it frees the seat', async () => {
  const { payUrl, statusOf, isOpen, bookAnother, payment, id } = await held();
  const { page } = await world.openLink(payUrl);
  // The provider does not answer, so nobody can say that the page is closed.
  world.standIn.knobs.turnAway = 1;
  world.skip(15 * minuteMs + 1000);
  expect([await statusOf(), await isOpen()]).toEqual(['held', false]);
  expect((await bookAnother()).body.error.code).toBe('slot_taken');
  expect(await payment.statusOf()).toBe('expired');
  world.standIn.knobs.turnAway = 0;
  await world.deps.temporal.workflow.getHandle(`payment:${payment.id}`).signal('moved');
  await expect.poll(statusOf, soon).toBe('expired');
  expect((await fetch(page ?? '')).status).toBe(410);
  expect(await isOpen()).toBe(true);
  expect(await row(id)).toMatchObject({ paying: false, visitorSealed: null });
  expect((await world.openLink(payUrl)).status).toBe(410);
  expect((await bookAnother()).status).toBe(200);
});

test('who has paid when the hold ends has the seat, though it was not known yet', async () => {
  const { payUrl, statusOf, payment } = await held();
  const { page } = await world.openLink(payUrl);
  world.standIn.knobs.turnAway = 1;
  await world.press(page, 'pay', { comesBack: false });
  world.skip(15 * minuteMs + 1000);
  world.standIn.knobs.turnAway = 0;
  await world.deps.temporal.workflow.getHandle(`payment:${payment.id}`).signal('moved');
  await expect.poll(statusOf, soon).toBe('confirmed');
  expect(await payment.statusOf()).toBe('paid');
});

describe('money that turns up when nobody could be asked for hours', () => {
  /** Paid on a page about which the provider was silent until an hour after its end: the seat is free by then. */
  async function lateMoney() {
    const made = await held();
    const { page } = await world.openLink(made.payUrl);
    world.standIn.knobs.turnAway = 1;
    await world.press(page, 'pay', { comesBack: false });
    world.skip(15 * minuteMs + 100 * minuteMs);
    const handle = world.deps.temporal.workflow.getHandle(`payment:${made.payment.id}`);
    await handle.signal('moved');
    await expect.poll(made.statusOf, soon).toBe('expired');
    expect(await made.isOpen()).toBe(true);
    const goOn = () => {
      world.standIn.knobs.turnAway = 0;
    };
    return { ...made, goOn };
  }
  const check = async () => {
    const { checkLedger } = await import('../../activities/ledger.ts');
    return await checkLedger(world.deps);
  };

  test('seats the visitor again if there is room', async () => {
    const { goOn, statusOf, payment } = await lateMoney();
    goOn();
    await check();
    expect([await statusOf(), await payment.statusOf()]).toEqual(['confirmed', 'paid']);
  });

  test('is given back if there is none, and both are told', async () => {
    const { goOn, bookAnother, statusOf, payment, paymentId, owner } = await lateMoney();
    expect((await bookAnother()).status).toBe(200);
    goOn();
    await check();
    await expect.poll(payment.statusOf, soon).toBe('refunded');
    expect([await statusOf(), world.heldFor(paymentId)]).toEqual(['expired', 0]);
    const told = await waiting('money-returned');
    expect(told.sort()).toEqual(['ada@example.org', await world.emailOf(owner)].sort());
  });
});

describe('cancelling', () => {
  test('a paid booking gives the money back and frees the seat', async () => {
    const { payUrl, id, owner, payment, paymentId, isOpen } = await held();
    await world.press((await world.openLink(payUrl)).page);
    const { body } = await owner.call('POST', `/v1/bookings/${id}/cancel`);
    expect(body.status).toBe('cancelled');
    expect(await isOpen()).toBe(true);
    await expect.poll(payment.statusOf, soon).toBe('refunded');
    expect(world.heldFor(paymentId)).toBe(0);
  });

  test('a held booking closes its page, and what is paid on it all the same goes back', async () => {
    const { payUrl, id, owner, paymentId, payment } = await held();
    const { page } = await world.openLink(payUrl);
    world.standIn.knobs.turnAway = 1;
    await owner.call('POST', `/v1/bookings/${id}/cancel`);
    await world.press(page, 'pay', { comesBack: false });
    world.standIn.knobs.turnAway = 0;
    await world.deps.temporal.workflow.getHandle(`payment:${paymentId}`).signal('moved');
    await expect.poll(payment.statusOf, soon).toBe('refunded');
    expect([world.heldFor(paymentId), (await row(id)).status]).toEqual([0, 'cancelled']);
  });
});

test('the holds of a site that is archived end, and late money goes back', async () => {
  const { payUrl, site, owner, paymentId, payment } = await held();
  const { page } = await world.openLink(payUrl);
  world.standIn.knobs.turnAway = 1;
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  await world.press(page, 'pay', { comesBack: false });
  world.standIn.knobs.turnAway = 0;
  await world.deps.temporal.workflow.getHandle(`payment:${paymentId}`).signal('moved');
  await expect.poll(payment.statusOf, soon).toBe('refunded');
  expect(world.heldFor(paymentId)).toBe(0);
});

test('a site that is archived at the moment of a charge waits for it, and neither fails', async () => {
  const { owner, site, id, paymentId } = await held();
  const { archiving } = await withPayment(world.deps.em(), paymentId, async ({ tx, booking }) => {
    const archived = owner.call('POST', `/v1/sites/${site.id}/archive`);
    const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await world.deps.em().execute(waits)).length, soon).toBeGreaterThan(0);
    Object.assign(booking ?? {}, { visitorName: 'Eve' });
    await tx.flush();
    return { archiving: () => archived };
  });
  expect((await archiving()).status).toBe(200);
  expect(await row(id)).toMatchObject({ status: 'expired', visitorName: 'Eve' });
});

test('a price that no card can be charged is no timetable', async () => {
  const owner = await world.newCaller();
  const site = await world.newSite(owner);
  const body = timetable({ service: { price: { amount: 10, currency: 'EUR' } } });
  const answer = await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body });
  expect(answer.body.error).toMatchObject({ code: 'invalid_timetable', message: expect.stringContaining('0.50 EUR') });
});
