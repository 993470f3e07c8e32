/** Refunds, over HTTP. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkLedger } from '#activities/ledger.ts';
import { giveBackCharge, refundActivities } from '#activities/payments/refunds.ts';
import { blockAccount } from '#db/accounts/blocks.ts';
import type { EntityManager } from '#db/orm.ts';
import {
  abandonRefund,
  recordCharge,
  recordRefund,
  recordRefundFailure,
  refundCaptured,
} from '#db/payments/charges.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { withPayment } from '#db/payments/transitions.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { Site } from '#db/sites/site.ts';
import { blockSite } from '#db/sites/transitions.ts';
import { minuteMs } from '#rules/time.ts';
import { errorOf } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { atRest } from './held.ts';

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
    setForTest(fixture.stub.knobs, { loseAnswers: 1 });
    const { body } = await owner.call('POST', `/v1/payments/${id}/refund`, { headers: { prefer: 'respond-async' } });
    expect(body).toMatchObject({ status: 'refunding', next_action: expect.stringContaining(id) });
    fixture.stub.knobs.loseAnswers = 0;
    await expect.poll(statusOf, soon).toBe('refunded');
    expect([fixture.heldFor(id), (await refund()).body.status]).toEqual([0, 'refunded']);
  });
  test('without funds is retried, and completes once funds arrive', async () => {
    const { id, owner, statusOf } = await paid();
    setForTest(fixture.stub.knobs, { failRefunds: true });
    await owner.call('POST', `/v1/payments/${id}/refund`, { headers: { prefer: 'respond-async' } });
    await expect.poll(async () => (await attemptOf(id)).refundFault, soon).toContain('balance_insufficient');
    fixture.stub.knobs.failRefunds = false;
    await expect.poll(statusOf, soon).toBe('refunded');
    expect(fixture.heldFor(id)).toBe(0);
  });

  test('that is pending at the provider is in progress until done', async () => {
    const { id, owner, statusOf } = await paid();
    setForTest(fixture.stub.knobs, { holdRefunds: true });
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
    setForTest(fixture.stub.knobs, { turnAway: 1 });
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

describe('although its rows were read before', () => {
  /** A payment whose checkout session is charged by the test, and an entity manager that has read its rows. */
  async function opened() {
    const made = await fixture.newPayment();
    await fixture.openLink(made.payUrl);
    await atRest(fixture, made.id);
    // The workflow learns nothing of the provider meanwhile.
    setForTest(fixture.stub.knobs, { turnAway: 1 });
    onTestFinished(() => {
      fixture.stub.knobs.turnAway = 0;
    });
    const attempt = await attemptOf(made.id);
    const reader = async () => {
      const em = fixture.deps.em();
      await em.findOneOrFail(PaymentAttempt, { id: attempt.id });
      await em.findOneOrFail(Site, { id: made.site.id });
      await em.findOneOrFail(PayoutAccount, { id: made.account.id });
      return em;
    };
    const charged = { ...attempt, sessionId: attempt.sessionId ?? null };
    const charge = (em: EntityManager) => recordCharge(em, fixture.deps, charged, `ch_${made.id}`);
    const startRefund = async () => {
      await withPayment(fixture.deps.em(), made.id, (locked) => refundCaptured(locked, fixture.clock, 'asked'));
      return await attemptOf(made.id);
    };
    return { ...made, attempt, reader, charge, startRefund };
  }

  test('a charge is recorded once', async () => {
    const { id, reader, charge } = await opened();
    for (const em of [await reader(), await reader()]) await charge(em);
    expect(await attemptOf(id)).toMatchObject({ charge: `ch_${id}`, refundReason: null });
  });

  test.each(['site', 'payout account'])('a charge after the block of its %s is refunded', async (what) => {
    const { id, site, account, reader, charge } = await opened();
    const em = await reader();
    const other = await fixture.newCaller();
    if (what === 'site') await blockSite(fixture.deps.em(), fixture.clock, site.id, 'It sells what it has not.');
    else {
      await fixture.deps.em().nativeUpdate(PayoutAccount, { id: account.id }, { account: other.accountId });
      await blockAccount(fixture.deps.em(), fixture, other.accountId, 'It sells what it has not.');
    }
    await charge(em);
    expect(await attemptOf(id)).toMatchObject({ refundReason: 'late' });
  });

  test('a second charge whose refund is abandoned stays a second one', async () => {
    const { id, attempt, payUrl, charge, statusOf } = await opened();
    const em = () => fixture.deps.em();
    // The first page is too short-lived by now to be used again.
    fixture.skip(31 * minuteMs);
    await fixture.openLink(payUrl);
    const other = await em().findOneOrFail(PaymentAttempt, { payment: id, id: { $ne: attempt.id } });
    await charge(em());
    await recordCharge(em(), fixture.deps, { ...other, sessionId: null }, `ch_2_${id}`);
    expect(await abandonRefund(em(), fixture.deps, other, undefined)).toBe(true);
    expect((await em().findOneOrFail(PaymentAttempt, { id: other.id })).refundReason).toBe('second');
    expect(await statusOf()).toBe('paid');
  });

  test('a refund is completed', async () => {
    const { id, reader, charge, startRefund, statusOf } = await opened();
    await charge(await reader());
    const em = await reader();
    await recordRefund(em, fixture.deps, await startRefund(), null);
    expect([(await attemptOf(id)).refundedAt, await statusOf()]).toEqual([expect.any(Date), 'refunded']);
  });

  test('a refund is abandoned, and the next one starts without its fault', async () => {
    const { id, reader, charge, startRefund, statusOf } = await opened();
    await charge(await reader());
    const [one, other] = [await reader(), await reader()];
    const refunding = await startRefund();
    await recordRefundFailure(fixture.deps.em(), refunding, { why: 'the card is gone', isKept: true });
    expect(await abandonRefund(one, fixture.deps, refunding, refunding.refundKey ?? undefined)).toBe(true);
    expect(await statusOf()).toBe('paid');
    const next = await withPayment(other, id, async (locked) => {
      await refundCaptured(locked, fixture.clock, 'asked');
      await locked.tx.flush();
      return await locked.tx.execute('select refund_fault, refund_refusals from payment_attempt where payment_id = ?', [
        id,
      ]);
    });
    expect(next).toEqual([{ refund_fault: null, refund_refusals: 0 }]);
  });
});
