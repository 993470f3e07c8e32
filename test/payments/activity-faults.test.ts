/** Activities of payments that fail, are repeated or run twice: each charge and each refund is made once. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { LedgerFlag } from '#db/payments/ledger-flag.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { activityFaults, faultsOf } from '#test/publishing/activity-faults.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { aroundActivities } from '#test/stack/worker.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { atRest } from './held.ts';

const { around, interceptors } = aroundActivities();
let fixture: PayingFixture;
usePayingFixture(
  (made) => {
    fixture = made;
  },
  { interceptors },
);

const soon = { timeout: 20_000, interval: 50 };
const refundsOf = (id: string) =>
  [...fixture.stub.stub.objects.values()].filter(
    (one) =>
      one.object === 'refund' && fixture.chargesOf(id).some((charge) => 'id' in charge && charge.id === one.charge),
  );

test.each(faultsOf(0))('a payment is recorded as paid when its query %s', async (fault) => {
  const { payUrl, statusOf, id } = await fixture.newPayment();
  const { page } = await fixture.openLink(payUrl);
  await atRest(fixture, id);
  around.set('settlePayment', activityFaults[fault]);
  await fixture.press(page, 'pay', { comesBack: false });
  await expect.poll(statusOf, soon).toBe('paid');
  await expect.poll(() => around.size, soon).toBe(0);
  expect([fixture.heldFor(id), fixture.chargesOf(id).length]).toEqual([1250, 1]);
});

test.each(faultsOf(1))('a charge is refunded once when the refund %s', async (fault) => {
  const { payUrl, id, owner } = await fixture.newPayment();
  await fixture.press((await fixture.openLink(payUrl)).page);
  around.set('giveBackCharge', activityFaults[fault]);
  const { body } = await owner.call('POST', `/v1/payments/${id}/refund`);
  expect(body.status).toBe('refunded');
  expect(around.size).toBe(0);
  expect([fixture.heldFor(id), refundsOf(id).length]).toEqual([0, 1]);
});

test.each(faultsOf(0))('a part is refunded once when that %s', async (fault) => {
  const { payUrl, id, owner } = await fixture.newPayment();
  await fixture.press((await fixture.openLink(payUrl)).page);
  around.set('giveBackCharge', activityFaults[fault]);
  const headers = { 'idempotency-key': randomUUID() };
  const { body } = await owner.call('POST', `/v1/payments/${id}/refund`, { body: { amount: 400 }, headers });
  expect(body).toMatchObject({ status: 'paid', refunded_amount: 400 });
  expect(around.size).toBe(0);
  expect([fixture.heldFor(id), refundsOf(id).length]).toEqual([850, 1]);
});

test.each(faultsOf(2))('a failed refund is abandoned when that %s, and can be requested again', async (fault) => {
  const { payUrl, id, owner, account, statusOf } = await fixture.newPayment();
  await fixture.press((await fixture.openLink(payUrl)).page);
  const { sealedKey } = await fixture.deps.em().findOneOrFail(PayoutAccount, { id: account.id });
  around.set('giveUpRefund', activityFaults[fault]);
  // The account goes between the owner's call and the giving back.
  around.set('giveBackCharge', async (act) => {
    await fixture.deps
      .em()
      .nativeUpdate(
        PayoutAccount,
        { id: account.id },
        { status: 'gone', sealedKey: null, goneAt: fixture.clock.now() },
      );
    return await act();
  });
  await owner.call('POST', `/v1/payments/${id}/refund`, { headers: { prefer: 'respond-async' } });
  await expect.poll(statusOf, soon).toBe('paid');
  await expect.poll(() => around.size, soon).toBe(0);
  await fixture.deps
    .em()
    .nativeUpdate(PayoutAccount, { id: account.id }, { status: 'ready', sealedKey: sealedKey ?? null, goneAt: null });
  expect((await owner.call('POST', `/v1/payments/${id}/refund`)).body.status).toBe('refunded');
  expect([fixture.heldFor(id), refundsOf(id).length]).toEqual([0, 1]);
});

const check = (name: string) =>
  fixture.deps.temporal.workflow.execute('checkLedger', {
    workflowId: `ledger ${name}`,
    taskQueue: 'platform',
  });

test.each(faultsOf(3))('the ledger check finds lost work when it %s', async (fault) => {
  const { payUrl, id, statusOf } = await fixture.newPayment();
  const { page } = await fixture.openLink(payUrl);
  await atRest(fixture, id);
  const handle = fixture.deps.temporal.workflow.getHandle(`payment:${id}`);
  await handle.terminate('a test');
  await fixture.press(page, 'pay', { comesBack: false });
  around.set('checkLedger', activityFaults[fault]);
  await check(fault);
  expect(around.size).toBe(0);
  expect([await statusOf(), fixture.heldFor(id)]).toEqual(['paid', 1250]);
});

test('the ledger check flags what needs an operator, once, and clears what is fixed', async () => {
  const { payUrl, id } = await fixture.newPayment();
  await fixture.press((await fixture.openLink(payUrl)).page);
  const em = () => fixture.deps.em();
  const attempt = await em().findOneOrFail(PaymentAttempt, { payment: id });
  await em().nativeUpdate(PaymentAttempt, { id: attempt.id }, { charge: null, chargedAt: null, status: 'closed' });
  await em().execute(`update payment set payout_account_id = payout_account_id where id = ?`, [id]);
  const flagged = async () => (await em().find(LedgerFlag, { subject: id })).length;
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  await check('one');
  await check('two');
  expect(await flagged()).toBe(1);
  fixture.stub.knobs.turnAway = 0;
  await em().nativeUpdate(
    PaymentAttempt,
    { id: attempt.id },
    { charge: attempt.charge ?? null, chargedAt: attempt.chargedAt ?? null, status: 'paid' },
  );
  await check('three');
  expect(await flagged()).toBe(0);
});
