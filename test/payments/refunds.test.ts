/** Refunds, over HTTP. */
import { describe, expect, test } from 'vitest';
import { checkLedger } from '#activities/ledger.ts';
import { giveBackCharge, refundActivities } from '#activities/payments/refunds.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { errorOf } from '#test/api/fixture.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const soon = { timeout: 20_000, interval: 50 };

const attemptOf = (payment: string) => fixture.deps.em().findOneOrFail(PaymentAttempt, { payment });

/** What DELETE of a payout account leaves of it. */
const remove = async (id: string) =>
  void (await fixture.deps
    .em()
    .nativeUpdate(PayoutAccount, { id }, { status: 'gone', sealedKey: null, goneAt: fixture.clock.now() }));

describe('a refund', () => {
  const paid = async (more: Parameters<PayingFixture['newPayment']>[0] = {}) => {
    const made = await fixture.newPayment(more);
    await fixture.press((await fixture.openLink(made.payUrl)).page);
    return { ...made, refund: () => made.owner.call('POST', `/v1/payments/${made.id}/refund`) };
  };

  test.each(['own_key', 'connect'] as const)('on the rail %s returns the whole amount, once', async (rail) => {
    const { id, refund } = await paid({ rail });
    const answers = await Promise.all([refund(), refund(), refund()]);
    for (const { body } of answers) expect(body).toMatchObject({ status: 'refunded', refunded_at: expect.any(String) });
    expect((await refund()).body.status).toBe('refunded');
    expect(fixture.heldFor(id)).toBe(0);
  });

  test('of an unpaid payment is nothing_paid', async () => {
    const { owner, id } = await fixture.newPayment();
    expect(errorOf(await owner.call('POST', `/v1/payments/${id}/refund`)).code).toBe('nothing_paid');
    fixture.skip(31 * 24 * 3600_000);
    expect((await owner.call('GET', `/v1/payments/${id}`)).body.status).toBe('expired');
    expect(errorOf(await owner.call('POST', `/v1/payments/${id}/refund`)).code).toBe('nothing_paid');
  });

  test('is for owners alone, and strangers see no payment', async () => {
    const { owner, site, id, refund } = await paid();
    const guest = await fixture.newCollaborator(owner, site.id);
    expect((await guest.call('GET', `/v1/payments/${id}`)).body.status).toBe('paid');
    expect(errorOf(await guest.call('POST', `/v1/payments/${id}/refund`)).code).toBe('owner_only');
    const stranger = await fixture.newCaller();
    expect(errorOf(await stranger.call('GET', `/v1/payments/${id}`)).code).toBe('not_found');
    expect(errorOf(await stranger.call('POST', `/v1/payments/${id}/refund`)).code).toBe('not_found');
    expect((await refund()).body.status).toBe('refunded');
  });

  test('from a removed account is payout_account_gone, and names the place of the money', async () => {
    const { account, refund, statusOf, owner, site, payUrl } = await paid();
    await remove(account.id);
    const error = errorOf(await refund());
    expect(error.code).toBe('payout_account_gone');
    expect(error.message).toContain('cannot refund it. The account’s owner can refund it');
    expect(error.message).toContain('payment provider’s dashboard');
    expect(await statusOf()).toBe('paid');
    const next = await owner.call('POST', `/v1/sites/${site.id}/payments`, { body: { amount: 1250, currency: 'EUR' } });
    expect(errorOf(next).code).toBe('payout_account_gone');
    expect((await fixture.openLink(payUrl)).text).toContain('Paid');
  });

  test('with an undecryptable key is payout_key_unreadable', async () => {
    const { account, refund } = await paid();
    await fixture.deps.em().nativeUpdate(PayoutAccount, { id: account.id }, { sealedKey: Buffer.alloc(60, 1) });
    expect(errorOf(await refund())).toMatchObject({ code: 'payout_key_unreadable', retryable: false });
  });

  test('without a response continues automatically, once', async () => {
    const { id, owner, refund, statusOf } = await paid();
    fixture.stub.knobs.loseAnswers = 1;
    const { body } = await owner.call('POST', `/v1/payments/${id}/refund`, { headers: { prefer: 'respond-async' } });
    expect(body).toMatchObject({ status: 'refunding', next_action: expect.stringContaining(id) });
    fixture.stub.knobs.loseAnswers = 0;
    await expect.poll(statusOf, soon).toBe('refunded');
    expect([fixture.heldFor(id), (await refund()).body.status]).toEqual([0, 'refunded']);
  });
  test('without funds is retried, and completes once funds arrive', async () => {
    const { id, owner, statusOf } = await paid();
    fixture.stub.knobs.failRefunds = true;
    await owner.call('POST', `/v1/payments/${id}/refund`, { headers: { prefer: 'respond-async' } });
    await expect.poll(async () => (await attemptOf(id)).refundFault, soon).toContain('balance_insufficient');
    fixture.stub.knobs.failRefunds = false;
    await expect.poll(statusOf, soon).toBe('refunded');
    expect(fixture.heldFor(id)).toBe(0);
  });

  test('that is pending at the provider is in progress until done', async () => {
    const { id, owner, statusOf } = await paid();
    fixture.stub.knobs.holdRefunds = true;
    const { body } = await owner.call('POST', `/v1/payments/${id}/refund`, { headers: { prefer: 'respond-async' } });
    expect(body).toMatchObject({ status: 'refunding', refunded_at: null });
    await expect.poll(async () => (await attemptOf(id)).refundFault, soon).toContain('has not completed');
    fixture.skip(3601_000);
    await checkLedger(fixture.deps);
    expect(await statusOf()).toBe('refunding');
    fixture.stub.knobs.holdRefunds = false;
    await checkLedger(fixture.deps);
    expect([await statusOf(), fixture.heldFor(id)]).toEqual(['refunded', 0]);
  });

  test('that another replaced is neither completed nor abandoned in its place', async () => {
    const { id, owner, statusOf } = await paid();
    fixture.stub.knobs.turnAway = 1;
    await owner.call('POST', `/v1/payments/${id}/refund`, { headers: { prefer: 'respond-async' } });
    const attempt = await attemptOf(id);
    const steps = refundActivities(fixture.deps);
    expect(await steps.giveUpRefund(attempt.id, 'an earlier one')).toBe('kept');
    expect(await giveBackCharge(fixture.deps, attempt.id, 'an earlier one')).toBe('replaced');
    expect(await statusOf()).toBe('refunding');
    fixture.stub.knobs.turnAway = 0;
    await expect.poll(statusOf, soon).toBe('refunded');
  });
});
