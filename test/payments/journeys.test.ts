/**
 * Random journeys of payers and owners, on both rails, while the provider turns calls away and loses answers, its messages are lost, doubled
 * and late, and steps are broken off around their effect. In the end the ledger is held against what the provider has.
 * 24 journeys by default; 300 with FRONTAGE_PAYMENT_JOURNEYS=300, from the seed FRONTAGE_PAYMENT_SEED. Prints what happened.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkLedger } from '../../activities/ledger.ts';
import { Booking } from '../../db/entities/booking.ts';
import { LedgerFlag } from '../../db/entities/ledger-flag.ts';
import { Payment } from '../../db/entities/payment.ts';
import { PaymentAttempt } from '../../db/entities/payment-attempt.ts';
import { timetable } from '../bookings/timetable.ts';
import { numbersFrom } from '../stack/chance.ts';
import { startWorker } from '../stack/worker.ts';
import { attachAccount, attachConnected, createPayingWorld, type PayingWorld } from './world.ts';

const journeys = Number(process.env.FRONTAGE_PAYMENT_JOURNEYS ?? 24);
const seed = Number(process.env.FRONTAGE_PAYMENT_SEED ?? 20261121);
const atOnce = 8;

const random = numbersFrom(seed);
const chance = (share: number) => random() < share;

const storm = { turnAway: 0.1, loseAnswers: 0.1, loseWebhooks: 0.3, doubleWebhooks: 0.4, delayWebhooksMs: 600 };
let breaking = 0.15;

let world: PayingWorld;
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeAll(async () => {
  world = await createPayingWorld({}, { random });
  const execute = async (input: never, next: (input: never) => Promise<unknown>) => {
    if (chance(breaking)) throw new Error('broken off before');
    const result = await next(input);
    if (chance(breaking)) throw new Error('broken off after');
    return result;
  };
  worker = await startWorker(world.deps, { interceptors: { activity: [() => ({ inbound: { execute } as never })] } });
});
afterAll(async () => {
  await worker?.close();
  await world?.close();
});

const did: Record<string, number> = {};
const note = (what: string) => {
  did[what] = (did[what] ?? 0) + 1;
};

/** Opens the link now and then more than once, and pays on some of the pages. */
async function pay(payUrl: string): Promise<void> {
  const pages: (string | null)[] = [];
  for (let opening = 0; opening < 1 + Math.floor(random() * 3); opening++) {
    pages.push((await world.openLink(payUrl).catch(() => null))?.page ?? null);
  }
  for (const page of pages) {
    if (page === null || !chance(0.6)) continue;
    const { status } = await world.press(page, chance(0.2) ? 'decline' : 'pay', { comesBack: chance(0.5) });
    note(status < 400 ? 'pages paid' : 'pages over or declined');
  }
}

async function linkJourney({ owner, site }: Awaited<ReturnType<PayingWorld['newPaidSite']>>): Promise<void> {
  const body = { amount: 100 + Math.floor(random() * 9000), currency: 'EUR' };
  const { id, pay_url } = (await owner.call('POST', `/v1/sites/${site.id}/payments`, { body })).body;
  note('links');
  await pay(pay_url);
  if (!chance(0.4)) return;
  const headers = { prefer: 'respond-async' };
  const asked = Array.from({ length: 2 }, () => owner.call('POST', `/v1/payments/${id}/refund`, { headers }));
  for (const { status } of await Promise.all(asked)) note(`refunds answered ${status}`);
}

type Shop = Awaited<ReturnType<PayingWorld['newBookable']>>;

async function bookingJourney({ publicId, owner }: Shop, start: string, at: number): Promise<void> {
  const visitor = { name: 'V', email: `v${at}@example.org` };
  const { status, body } = await world.book(publicId, start, { visitor });
  note(`bookings answered ${status}`);
  if (status !== 200) return;
  await pay(body.pay_url);
  if (chance(0.3)) note(`cancellings answered ${(await owner.call('POST', `/v1/bookings/${body.id}/cancel`)).status}`);
}

async function newShop(rail: 'own_key' | 'connect'): Promise<Shop> {
  const service = { price: { amount: 2500, currency: 'EUR' }, hold_minutes: 15 };
  const shop = await world.newBookable(timetable({ service, calendar: { capacity: 2 } }));
  await (rail === 'own_key' ? attachAccount : attachConnected)(world, shop.owner, shop.site.id);
  return shop;
}

async function storms(): Promise<void> {
  const sites = [await world.newPaidSite(), await world.newPaidSite({ rail: 'connect' })];
  const shops = [await newShop('own_key'), await newShop('connect')];
  const starts = (await world.slots(shops[0]?.publicId ?? '', world.dateIn(5))).map(({ start }) => start);
  Object.assign(world.standIn.knobs, storm);
  for (let done = 0; done < journeys; done += atOnce) {
    const wave = Array.from({ length: Math.min(atOnce, journeys - done) }, async (_, at) => {
      const rail = chance(0.5) ? 0 : 1;
      if (chance(0.4)) return await linkJourney(sites[rail] as (typeof sites)[number]);
      const start = starts[Math.floor(random() * Math.min(starts.length, Math.max(4, journeys / 20)))] ?? '';
      await bookingJourney(shops[rail] as Shop, start, done + at);
    });
    await Promise.all(wave);
    // Now and then all holds run out, with their pages open.
    if (chance(0.3)) world.skip(16 * 60_000);
  }
}

/** Calm: what was lost is found, what was begun is finished. */
async function settle(): Promise<void> {
  Object.assign(world.standIn.knobs, { turnAway: 0, loseAnswers: 0, loseWebhooks: 0, doubleWebhooks: 0 });
  breaking = 0;
  world.skip(3 * 3600_000);
  const goingBack = () =>
    world.deps.em().count(PaymentAttempt, { refundReason: { $ne: null }, refundedAt: null } as never);
  const unsettled = () => world.deps.em().count(PaymentAttempt, { status: { $in: ['minting', 'open', 'unasked'] } });
  for (let turn = 0; turn < 60 && (await goingBack()) + (await unsettled()) > 0; turn++) {
    await checkLedger(world.deps);
    await world.standIn.settled();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  expect([await goingBack(), await unsettled()]).toEqual([0, 0]);
}

test(`after ${journeys} random journeys each charge is a payment that is paid or has gone back, and each paid booking has a seat or its money back`, {
  timeout: 1_800_000,
}, async () => {
  await storms();
  await settle();
  const { charges, flagged } = await checkLedger(world.deps);
  const flags = await world.deps.em().find(LedgerFlag, {});
  expect(flags).toEqual([]);
  const payments = await world.deps.em().find(Payment, {});
  const bookings = await world.deps.em().find(Booking, {});
  const states: Record<string, number> = {};
  for (const { id, amount, status } of payments) {
    states[status] = (states[status] ?? 0) + 1;
    expect({ id, status, held: world.heldFor(id) }).toEqual({ id, status, held: status === 'paid' ? amount : 0 });
    const booking = bookings.find(({ paymentId }) => paymentId === id);
    if (booking) expect([booking.status === 'confirmed', booking.id]).toEqual([status === 'paid', booking.id]);
    if (booking) expect([booking.paying, booking.visitorSealed ?? null]).toEqual([false, null]);
  }
  expect(states.paid).toBeGreaterThan(0);
  expect(states.refunded).toBeGreaterThan(0);
  expect(world.unexpected()).toEqual([]);
  console.log(JSON.stringify({ seed, journeys, charges, flagged, states, ...did }));
});
