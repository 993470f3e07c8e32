/** Two acts on one held booking at the same time: its seats and its money agree whichever is first. */
import { expect, test } from 'vitest';
import { checkLedger } from '#activities/ledger.ts';
import { LedgerFlag } from '#db/payments/ledger-flag.ts';
import { hourMs } from '#rules/time.ts';
import type { Answer } from '#test/api/fixture.ts';
import { size } from '#test/campaigns/size.ts';
import { until } from '#test/stack/until.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { heldIn } from './held.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const acts = ['move', 'pay', 'expire', 'cancel', 'block'] as const;
type Act = (typeof acts)[number];
const pairs = acts.flatMap((first) => acts.filter((second) => second !== first).map((second) => [first, second]));
/** Campaigns send each of two acts first; `npm test` sends one of them first. */
const raced = size === 'one' ? pairs.filter(([first = '', second = '']) => first < second) : pairs;

/** What a payment may be, and how much money is held, for each status of its booking. */
const agreeing: Record<string, [payments: string[], held: number]> = {
  held: [['open'], 0],
  confirmed: [['paid'], 2500],
  cancelled: [['expired', 'refunded'], 0],
  expired: [['expired', 'refunded'], 0],
};

const refusals = ['not_cancellable', 'slot_taken', 'invalid_slot', 'invalid_payment', 'expired'];

let racers = 0;

/** A held booking with an open page at the provider, and the acts on it. */
async function newRace() {
  const held = await heldIn(fixture, { wishes: { email: `racer-${++racers}@example.org` } });
  const { owner, site, publicId, id, paymentId, start, payUrl } = held;
  const { page } = await fixture.openLink(payUrl);
  const times = await fixture.slots(publicId, start.slice(0, 10));
  const target = times[1]?.start as string;
  const blockAt = (from: string) => {
    const end = new Date(Date.parse(from) + hourMs).toISOString();
    const body = { kind: 'block', calendar: 'room', start: from, end };
    return owner.call('POST', `/v1/sites/${site.id}/bookings`, { body });
  };
  const run = (act: Act, other: Act): Promise<Pick<Answer, 'status'> & { body?: Answer['body'] }> =>
    ({
      move: () => owner.call('POST', `/v1/bookings/${id}/move`, { body: { start: target } }),
      pay: () => fixture.press(page),
      expire: () => owner.call('POST', `/v1/payments/${paymentId}/expire`),
      cancel: () => owner.call('POST', `/v1/bookings/${id}/cancel`),
      block: () => blockAt(other === 'move' ? target : start),
    })[act]();
  return { ...held, run };
}

test.each(raced as [Act, Act][])('seats and money agree after %s and %s at once', async (first, second) => {
  const { run, read, payment, paymentId, site, publicId } = await newRace();
  const answers = await Promise.all([run(first, second), run(second, first)]);
  for (const [at, { status, body }] of answers.entries()) {
    if ([first, second][at] === 'pay') continue;
    expect(status === 200 || refusals.includes(body?.error?.code), JSON.stringify(body)).toBe(true);
  }
  const state = async () => [(await read()).status, await payment.statusOf(), fixture.heldFor(paymentId)] as const;
  const agrees = ([booking, paid, money]: Awaited<ReturnType<typeof state>>) => {
    const [payments, held] = agreeing[booking] ?? [[], -1];
    return payments.includes(paid) && money === held;
  };
  const [status] = await until(state, agrees);
  // What was paid is kept with its seat, or given back; an act that was answered with success has happened.
  for (const [act, { status: code }] of [[first, answers[0]] as const, [second, answers[1]] as const]) {
    if (act === 'cancel' && code === 200) expect(status).toBe('cancelled');
  }
  const rows = await fixture.deps.em().execute<{ starts_at: Date; count: number }[]>(
    `select starts_at, count(*)::int as count from booking
     where site_id = ? and status in ('held', 'confirmed') group by starts_at`,
    [site.id],
  );
  expect(rows.filter(({ count }) => count > 1)).toEqual([]);
  const { start } = await read();
  const open = (await fixture.slots(publicId, start.slice(0, 10))).map((one: { start: string }) =>
    Date.parse(one.start),
  );
  for (const { starts_at: at } of rows) expect(open).not.toContain(new Date(at).getTime());
  const isLive = status === 'held' || status === 'confirmed';
  expect(rows.some(({ starts_at: at }) => new Date(at).getTime() === Date.parse(start)) || !isLive).toBe(true);
  await checkLedger(fixture.deps);
  expect(await fixture.deps.em().count(LedgerFlag, { subject: paymentId })).toBe(0);
});
