/** What an owner refunds in the provider's dashboard, beside parts that were refunded here. */
import { expect, test } from 'vitest';
import { checkLedger } from '#activities/ledger.ts';
import { findings } from '#db/payments/ledger-findings.ts';
import { LedgerFlag } from '#db/payments/ledger-flag.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { errorOf } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { newPaid } from './parts.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const em = () => fixture.deps.em();

const inDashboard = (id: string, amount: number) => {
  const [charge] = fixture.chargesOf(id);
  if (charge) charge.amount_refunded += amount;
};

test('a part refunded in the dashboard is recorded once by the ledger check', async () => {
  const { id, refund, read } = await newPaid(fixture);
  await refund(200);
  inDashboard(id, 300);
  await checkLedger(fixture.deps);
  await checkLedger(fixture.deps);
  expect(await read()).toMatchObject({ status: 'paid', refunded_amount: 500 });
  expect(errorOf(await refund(800)).code).toBe('invalid_payment');
});

test('a refund in the dashboard that leaves too little makes a part fail', async () => {
  const { id, refund, read, parts } = await newPaid(fixture);
  inDashboard(id, 1000);
  expect((await refund(500)).body).toMatchObject({ status: 'paid', refunded_amount: 0 });
  expect((await parts())[0]).toMatchObject({ failedAt: expect.any(Date), refundedAt: null });
  await checkLedger(fixture.deps);
  expect(await read()).toMatchObject({ status: 'paid', refunded_amount: 1000 });
});

test('a part that the provider reversed is flagged for the operator', async () => {
  const { id, refund } = await newPaid(fixture);
  await refund(500);
  inDashboard(id, -500);
  fixture.skip(10 * 60_000);
  await checkLedger(fixture.deps);
  const { charge = '' } = await em().findOneOrFail(PaymentAttempt, { payment: id });
  expect((await em().findOne(LedgerFlag, { subject: charge ?? '' }))?.why).toBe(findings.notGivenBack);
  inDashboard(id, 500);
  await checkLedger(fixture.deps);
  expect(await em().findOne(LedgerFlag, { subject: charge ?? '' })).toBe(null);
});

test('a refunded amount that differs from its parts is flagged', async () => {
  const { id, refund } = await newPaid(fixture);
  await refund(500);
  await em().execute('update payment set refunded_amount = 499 where id = ?', [id]);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  await checkLedger(fixture.deps);
  expect((await em().findOne(LedgerFlag, { subject: id }))?.why).toBe(findings.sums);
  fixture.stub.knobs.turnAway = 0;
  await em().execute('update payment set refunded_amount = 500 where id = ?', [id]);
  await checkLedger(fixture.deps);
  expect(await em().findOne(LedgerFlag, { subject: id })).toBe(null);
});
