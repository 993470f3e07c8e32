/** What payers and owners do on random journeys, and what has to be so after all of them: for journeys.test.ts and killed.test.ts. */
import { expect } from 'vitest';
import { checkLedger } from '#activities/ledger.ts';
import { Booking } from '#db/bookings/booking.ts';
import { sweepHolds } from '#db/bookings/holds.ts';
import { LedgerFlag } from '#db/payments/ledger-flag.ts';
import { Payment, refundedAmountOf } from '#db/payments/payment.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { PaymentRefund } from '#db/payments/payment-refund.ts';
import { unknownAttempts } from '#rules/states.ts';
import type { Call, Caller } from '#test/api/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { retriedCall } from '#test/requests/retried-call.ts';
import { completeAccount } from '#tools/local/payments/accounts.ts';
import { attachAccount, attachConnected, type PayingFixture } from './fixture.ts';

export const storm = { turnAway: 0.1, loseAnswers: 0.1, loseWebhooks: 0.3, doubleWebhooks: 0.4, delayWebhooksMs: 600 };
export const calm = { turnAway: 0, loseAnswers: 0, loseWebhooks: 0, doubleWebhooks: 0 };

/** How many charges wait for their refund, how many checkout sessions for their outcome, and how many partial refunds. */
export async function unfinishedMoney({ deps }: Pick<PayingFixture, 'deps'>): Promise<number[]> {
  return [
    await deps.em().count(PaymentAttempt, { refundReason: { $ne: null }, refundedAt: null } as never),
    await deps.em().count(PaymentAttempt, { status: { $in: [...unknownAttempts] } }),
    await deps.em().count(PaymentRefund, { refundedAt: null, failedAt: null }),
  ];
}

export type Travelling = ReturnType<typeof travelling>;

/** `journeys` in all. */
export function travelling(fixture: PayingFixture, { random, journeys }: { random: () => number; journeys: number }) {
  const chance = (share: number) => random() < share;
  const did: Record<string, number> = {};
  const note = (what: string) => {
    did[what] = (did[what] ?? 0) + 1;
  };

  const answerOf = (token: string | undefined, ...call: Parameters<Call>) =>
    retriedCall(() => fixture.api, token)(...call);

  /** Opens the link now and then more than once, and pays on some of the pages. */
  async function pay(payUrl: string): Promise<void> {
    const pages: (string | null)[] = [];
    for (let opening = 0; opening < 1 + Math.floor(random() * 3); opening++) {
      pages.push((await fixture.openLink(payUrl).catch(() => null))?.page ?? null);
    }
    for (const page of pages) {
      if (page === null || !chance(0.6)) continue;
      const pressed = await fixture
        .press(page, chance(0.2) ? 'decline' : 'pay', { comesBack: chance(0.5) })
        .catch(() => null);
      note(pressed && pressed.status < 400 ? 'pages paid' : 'pages over or declined');
    }
  }

  async function linkJourney({ owner, site }: Awaited<ReturnType<PayingFixture['newPaidSite']>>): Promise<void> {
    const body = { amount: 100 + Math.floor(random() * 9000), currency: 'EUR' };
    const made = await answerOf(owner.token, 'POST', `/v1/sites/${site.id}/payments`, { body });
    const { id, pay_url } = made.body;
    note('links');
    await pay(pay_url);
    const headers = { prefer: 'respond-async' };
    if (chance(0.4)) {
      const parts = Array.from({ length: 3 }, () => {
        const part = { body: { amount: 1 + Math.floor(random() * body.amount) }, headers };
        return answerOf(owner.token, 'POST', `/v1/payments/${id}/refund`, part);
      });
      for (const { status } of await Promise.all(parts)) note(`parts answered ${status}`);
    }
    if (!chance(0.4)) return;
    const asked = Array.from({ length: 2 }, () =>
      answerOf(owner.token, 'POST', `/v1/payments/${id}/refund`, { headers }),
    );
    for (const { status } of await Promise.all(asked)) note(`refunds answered ${status}`);
  }

  type Shop = Awaited<ReturnType<PayingFixture['newBookable']>>;

  async function bookingJourney({ publicId, owner }: Shop, start: string, at: number): Promise<void> {
    const body = fixture.wish(start, { visitor: { name: 'V', email: `v${at}@example.org` } });
    const booked = await answerOf(undefined, 'POST', `/b/${publicId}`, { body });
    note(`bookings answered ${booked.status}`);
    if (booked.status !== 200) return;
    await pay(booked.body.pay_url);
    if (!chance(0.3)) return;
    const cancelled = await answerOf(owner.token, 'POST', `/v1/bookings/${booked.body.id}/cancel`);
    note(`cancellings answered ${cancelled.status}`);
  }

  async function newShop(rail: 'own_key' | 'connect'): Promise<Shop> {
    const service = { price: { amount: 2500, currency: 'EUR' }, hold_minutes: 15 };
    const shop = await fixture.newBookable(timetable({ service, calendar: { capacity: 2 } }));
    await (rail === 'own_key' ? attachAccount : attachConnected)(fixture, shop.owner as Caller, shop.site.id);
    return shop;
  }

  /** All journeys, some at once; `between` is what happens after each wave. */
  async function goAll(atOnce: number, between: () => void): Promise<void> {
    const sites = [await fixture.newPaidSite(), await fixture.newPaidSite({ rail: 'connect' })];
    const shops = [await newShop('own_key'), await newShop('connect')];
    const starts = (await fixture.slots(shops[0]?.publicId ?? '', fixture.dateIn(5))).map(({ start }) => start);
    const { stub, knobs } = fixture.stub;
    // Who asks about the connected accounts hears that they may take money.
    for (const one of stub.objects.values()) if (one.byPlatform) completeAccount(stub, one.id);
    Object.assign(knobs, storm);
    for (let done = 0; done < journeys; done += atOnce) {
      const wave = Array.from({ length: Math.min(atOnce, journeys - done) }, async (_, at) => {
        const rail = chance(0.5) ? 0 : 1;
        if (chance(0.4)) return await linkJourney(sites[rail] as (typeof sites)[number]);
        const start = starts[Math.floor(random() * Math.min(starts.length, Math.max(4, journeys / 20)))] ?? '';
        await bookingJourney(shops[rail] as Shop, start, done + at);
      });
      await Promise.all(wave);
      between();
    }
  }

  /** Calm, hours later: what was lost is found, what was begun is finished; where no worker is left, by what the schedules do alone. */
  async function settle({ alone = false } = {}): Promise<void> {
    Object.assign(fixture.stub.knobs, calm);
    fixture.skip(3 * 3600_000);
    for (let turn = 0; turn < 60 && (await unfinishedMoney(fixture)).some((count) => count > 0); turn++) {
      await checkLedger(fixture.deps);
      await fixture.stub.settled();
      if (alone) fixture.skip(3601_000);
      else await new Promise((resolve) => setTimeout(resolve, 250));
    }
    if (alone) await sweepHolds(fixture.deps.em(), fixture.clock.now());
    expect(await unfinishedMoney(fixture)).toEqual([0, 0, 0]);
  }

  /** Each charge is a payment that is paid or has gone back, and each paid booking has a seat or its money back. Answers what came of all. */
  async function requireTrueLedger() {
    const { charges, flagged } = await checkLedger(fixture.deps);
    expect(await fixture.deps.em().find(LedgerFlag, {})).toEqual([]);
    const payments = await fixture.deps.em().find(Payment, {});
    const bookings = await fixture.deps.em().find(Booking, {});
    const states: Record<string, number> = {};
    for (const payment of payments) {
      const { id, amount, status, refundingAmount } = payment;
      states[status] = (states[status] ?? 0) + 1;
      const held = status === 'paid' ? amount - refundedAmountOf(payment) : 0;
      expect({ id, status, refundingAmount, held: fixture.heldFor(id) }).toEqual({
        id,
        status,
        refundingAmount: 0,
        held,
      });
      const booking = bookings.find(({ paymentId }) => paymentId === id);
      if (booking) expect([booking.status === 'confirmed', booking.id]).toEqual([status === 'paid', booking.id]);
      if (booking) expect([booking.paying, booking.visitorSealed ?? null]).toEqual([false, null]);
    }
    // The journeys lead to more than one place, or they show nothing; some tens of them may happen not to.
    expect(charges).toBeGreaterThan(0);
    if (journeys >= 100) expect([states.paid, states.refunded]).toEqual([expect.any(Number), expect.any(Number)]);
    return { journeys, charges, flagged, states, ...did };
  }

  return { goAll, settle, requireTrueLedger, chance };
}
