/** Payment links that their site closes. */
import { describe, expect, test } from 'vitest';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { errorOf } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { until } from '#test/stack/until.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { atRest, heldIn } from './held.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const later = { headers: { prefer: 'respond-async' } };

async function open(more: Parameters<PayingFixture['newPayment']>[0] = {}) {
  const made = await fixture.newPayment(more);
  return { ...made, expire: (sent = {}) => made.owner.call('POST', `/v1/payments/${made.id}/expire`, sent) };
}

describe('closing a link', () => {
  test('that was never opened expires it at once', async () => {
    const { owner, site, id, payUrl, expire } = await open();
    expect((await expire()).body).toMatchObject({ id, status: 'expired' });
    expect((await expire()).body.status).toBe('expired');
    const { status, page } = await fixture.openLink(payUrl);
    expect([status, page]).toEqual([410, null]);
    const { items } = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body;
    const acts = items.filter(({ action }: { action: string }) => action === 'payment.expired');
    expect(acts).toEqual([expect.objectContaining({ subject: expect.objectContaining({ id }) })]);
  });

  test.each(['own_key', 'connect'] as const)('closes the page at the provider first, on the rail %s', async (rail) => {
    const { id, payUrl, expire } = await open({ rail });
    const { page } = await fixture.openLink(payUrl);
    expect((await expire()).body.status).toBe('expired');
    expect((await fixture.press(page, 'pay')).status).toBe(410);
    expect(fixture.heldFor(id)).toBe(0);
  });

  test('that was paid a moment before leaves it paid', async () => {
    const { id, payUrl, expire, statusOf } = await open();
    const { page } = await fixture.openLink(payUrl);
    await atRest(fixture, id);
    await fixture.press(page, 'pay', { comesBack: false });
    expect((await expire()).body.status).toBe('paid');
    expect([await statusOf(), fixture.heldFor(id)]).toEqual(['paid', 1250]);
  });

  test('and paying at the same moment end in one of both, never in between', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => open()));
    const ended = made.map(async ({ id, payUrl, expire, statusOf }) => {
      const { page } = await fixture.openLink(payUrl);
      await Promise.all([expire(), fixture.press(page, 'pay', { comesBack: false })]);
      const status = await until(statusOf, (one) => one !== 'open');
      expect([status, fixture.heldFor(id)]).toEqual(status === 'paid' ? ['paid', 1250] : ['expired', 0]);
    });
    await Promise.all(ended);
  });

  test('while the provider is silent opens no page, and ends when it answers', async () => {
    const { id, payUrl, expire, statusOf } = await open();
    await fixture.openLink(payUrl);
    setForTest(fixture.stub.knobs, { turnAway: 1 });
    expect((await expire(later)).body).toMatchObject({
      status: 'open',
      next_action: expect.stringContaining('closed'),
    });
    expect((await fixture.openLink(payUrl)).status).toBe(410);
    fixture.stub.knobs.turnAway = 0;
    await until(statusOf, (status) => status === 'expired');
    expect(await fixture.deps.em().count(PaymentAttempt, { payment: id })).toBe(1);
  });

  test('of a booking ends its hold, and its seat is free', async () => {
    const { owner, paymentId, payUrl, statusOf, isOpen } = await heldIn(fixture);
    await fixture.openLink(payUrl);
    expect(await isOpen()).toBe(false);
    expect((await owner.call('POST', `/v1/payments/${paymentId}/expire`)).body.status).toBe('expired');
    await until(statusOf, (status) => status === 'expired');
    expect(await isOpen()).toBe(true);
  });

  test('is for the site’s people, and strangers see no payment', async () => {
    const { owner, site, id } = await open();
    const guest = await fixture.newCollaborator(owner, site.id);
    const stranger = await fixture.newCaller();
    expect(errorOf(await stranger.call('POST', `/v1/payments/${id}/expire`)).code).toBe('not_found');
    expect((await guest.call('POST', `/v1/payments/${id}/expire`)).body.status).toBe('expired');
  });
});

test('visits to a link share one open page at the provider', async () => {
  const { id, payUrl } = await fixture.newPayment();
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => fixture.openLink(payUrl)));
  expect(new Set([one?.page, two?.page, three?.page]).size).toBe(1);
  expect((await fixture.openLink(payUrl)).page).toBe(one?.page);
  expect(await fixture.deps.em().count(PaymentAttempt, { payment: id })).toBe(1);
});
