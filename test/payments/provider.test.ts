/** Our use of the payment provider, against the stub and the vendor's own mock. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type NewCheckoutSession, openPayments, type PaymentCredentials, PaymentsFault } from '#providers/payments.ts';
import { toProvider } from '#rules/currencies.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { findMock } from '#tools/local/payments/stripe-mock.ts';
import { startPaymentsStub } from '#tools/local/payments/stub.ts';

const mock = findMock(process.env);
const key = 'sk_test_platform0000';
const own = (name: string): PaymentCredentials => ({ rail: 'own_key', key: `rk_test_${name}00000000` });

let stub: Awaited<ReturnType<typeof startPaymentsStub>>;
let payments: ReturnType<typeof openPayments>;
const clock = { now: () => new Date() };
beforeAll(async () => {
  stub = await startPaymentsStub({ clock, key, mock });
  payments = openPayments({ key, url: stub.url, webhookSecret: 'whsec_test' });
});
afterAll(() => stub?.close());

const request = (more: Partial<NewCheckoutSession> = {}): NewCheckoutSession => ({
  idempotencyKey: `test-${Math.random()}`,
  payment: 'pay_1',
  attempt: 'page_1',
  amount: 1250,
  currency: 'EUR',
  title: 'Two loaves',
  business: 'Bakery (bakery.example.com)',
  endsAt: new Date(Date.now() + 3600_000),
  returnUrl: 'http://localhost:1/back',
  cancelUrl: 'http://localhost:1/away',
  ...more,
});
const press = (url: string, act: 'pay' | 'decline' | 'cancel') =>
  fetch(`${url}/${act}`, { method: 'POST', redirect: 'manual' });
const faultOf = async (act: Promise<unknown>) => {
  const error = await act.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof PaymentsFault ? error.reason : error;
};

test('our requests match the vendor’s own mock', { tags: 'stripe-mock' }, async () => {
  const ada = own('shapes');
  const opened = await payments.openSession(ada, request());
  await payments.readSession(ada, opened.id);
  await press(opened.url, 'pay');
  const { charge } = await payments.closeSession(ada, opened.id);
  await payments.readCharge(ada, charge ?? '');
  for await (const one of payments.listCharges(ada, new Date(0))) expect(one.id).toBe(charge);
  expect(await payments.refund(ada, { charge: charge ?? '', idempotencyKey: 'refund' })).toEqual({ status: 'done' });
  const made = await payments.createAccount({ idempotencyKey: 'account' });
  await payments.mintOnboardingLink(made.providerAccount, {
    returnUrl: 'http://localhost:1/r',
    refreshUrl: 'http://localhost:1/f',
  });
  const answer = await fetch(`${stub.url}/v1/checkout/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'mode=payment&no_such_parameter=1',
  });
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining('additional properties are not allowed'),
  ]);
});

describe('a hosted page', () => {
  test('is paid once, and names its charge', async () => {
    const ada = own('paid');
    const opened = await payments.openSession(ada, request());
    expect(opened).toMatchObject({ status: 'open', charge: null });
    expect(await (await fetch(opened.url)).text()).toContain('€12.50');
    const paid = await press(opened.url, 'pay');
    expect([paid.status, paid.headers.get('location')]).toEqual([303, 'http://localhost:1/back']);
    expect((await press(opened.url, 'pay')).status).toBe(410);
    const read = await payments.readSession(ada, opened.id);
    expect(read).toMatchObject({ status: 'complete', charge: expect.stringMatching(/^pi_/) });
    expect(await payments.readCharge(ada, read.charge ?? '')).toMatchObject({
      payment: 'pay_1',
      attempt: 'page_1',
      isPaid: true,
      isRefunded: false,
    });
  });

  test('is the same for one idempotency key, and refuses another body', async () => {
    const ada = own('once');
    const asked = request({ idempotencyKey: 'the same' });
    const [first, second] = await Promise.all([payments.openSession(ada, asked), payments.openSession(ada, asked)]);
    expect(second.id).toBe(first.id);
    expect(await faultOf(payments.openSession(ada, { ...asked, amount: 1 }))).toBe('refused');
  });

  test('cannot be paid after closing, and a paid one is complete when closed', async () => {
    const ada = own('closed');
    const one = await payments.openSession(ada, request());
    expect(await payments.closeSession(ada, one.id)).toMatchObject({ status: 'expired', charge: null });
    expect((await press(one.url, 'pay')).status).toBe(410);
    const two = await payments.openSession(ada, request());
    await press(two.url, 'pay');
    expect(await payments.closeSession(ada, two.id)).toMatchObject({ status: 'complete', charge: expect.any(String) });
  });

  test('accepts a retry after a declined card, and returns a payer who cancels', async () => {
    const opened = await payments.openSession(own('declined'), request());
    expect((await press(opened.url, 'decline')).status).toBe(402);
    expect((await press(opened.url, 'cancel')).headers.get('location')).toBe('http://localhost:1/away');
    expect((await press(opened.url, 'pay')).status).toBe(303);
  });
});

test('a charge is refunded once, even if the request is repeated', async () => {
  const ada = own('refunds');
  const opened = await payments.openSession(ada, request());
  await press(opened.url, 'pay');
  const charge = (await payments.readSession(ada, opened.id)).charge ?? '';
  for (const idempotencyKey of ['one', 'one', 'two']) {
    expect(await payments.refund(ada, { charge, idempotencyKey })).toEqual({ status: 'done' });
  }
  const refunds = [...stub.stub.objects.values()].filter(
    (one) => one.object === 'refund' && one.payment_intent === charge,
  );
  expect(refunds).toHaveLength(1);
  expect(await payments.readCharge(ada, charge)).toMatchObject({ isRefunded: true });
});

describe('a provider failure', () => {
  test('is a bad key, a missing object or no response, without the provider’s words', async () => {
    expect(await faultOf(payments.readKey('rk_test_revoked0000'))).toBe('invalid_credentials');
    expect(await faultOf(payments.readAccount({ rail: 'connect', providerAccount: 'acct_nobody' }))).toBe(
      'invalid_credentials',
    );
    expect(await faultOf(payments.readSession(own('nothing'), 'cs_test_nothing'))).toBe('missing');
    setForTest(stub.knobs, { turnAway: 1 });
    const fault = await payments.readKey('rk_test_0123456789').catch((error: unknown) => error);
    stub.knobs.turnAway = 0;
    expect(fault).toMatchObject({ reason: 'unanswered', message: 'the payment provider failed: unanswered (503)' });
    const away = openPayments({ key, url: 'http://127.0.0.1:9', webhookSecret: '' });
    expect(await faultOf(away.readKey('rk_test_0123456789'))).toBe('unanswered');
  });
});

describe('an account', () => {
  test('with an own key reports what it is and waits for, in our words', async () => {
    expect(await payments.readKey('rk_test_0123456789')).toMatchObject({
      chargesEnabled: true,
      currency: 'EUR',
      waitingFor: [],
    });
    expect(await payments.readKey('rk_test_nocurrency1')).toMatchObject({ currency: null });
    expect((await payments.readKey('rk_test_pending0000')).waitingFor).toEqual([
      'a bank account for payouts',
      'acceptance of the terms of service',
      'an identity document for the owner',
      'a description of the business and its website',
    ]);
  });

  test('that is connected is completed by a single-use link', async () => {
    const made = await payments.createAccount({ idempotencyKey: 'an account' });
    expect(made).toMatchObject({ chargesEnabled: false, currency: null });
    const urls = { returnUrl: 'http://localhost:1/done', refreshUrl: 'http://localhost:1/again' };
    const link = await payments.mintOnboardingLink(made.providerAccount, urls);
    const press = () => fetch(`${link}/finish`, { method: 'POST', redirect: 'manual' });
    expect((await press()).headers.get('location')).toBe(urls.returnUrl);
    expect((await press()).headers.get('location')).toBe(urls.refreshUrl);
    const connected = { rail: 'connect', providerAccount: made.providerAccount } as const;
    expect(await payments.readAccount(connected)).toMatchObject({
      chargesEnabled: true,
      currency: 'EUR',
      waitingFor: [],
    });
    const opened = await payments.openSession(connected, request());
    expect(await faultOf(payments.readSession(own('somebody'), opened.id))).toBe('missing');
  });
});

test('a restarted provider stub still knows the paid pages', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'frontage-payments-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'payments.json');
  const first = await startPaymentsStub({ clock, key, file });
  const before = openPayments({ key, url: first.url, webhookSecret: '' });
  const ada = own('again');
  const opened = await before.openSession(ada, request());
  await press(opened.url, 'pay');
  await first.close();
  const second = await startPaymentsStub({ clock, key, file });
  onTestFinished(() => second.close());
  const after = openPayments({ key, url: second.url, webhookSecret: '' });
  const { charge } = await after.readSession(ada, opened.id);
  expect(await after.refund(ada, { charge: charge ?? '', idempotencyKey: 'later' })).toEqual({ status: 'done' });
});

test.each([
  [49, 'JPY'],
  [5001, 'KWD'],
  [1_000_000, 'ISK'],
])('the stub refuses %i %s, which the provider cannot charge', async (amount, currency) => {
  expect(await faultOf(payments.openSession(own('currencies'), request({ amount, currency })))).toBe('refused');
});

test('amounts are sent in the provider’s units', () => {
  const told = (amount: number, currency: string) => toProvider({ amount, currency });
  expect([told(1250, 'EUR'), told(1250, 'JPY'), told(1250, 'KWD'), told(1250, 'ISK')]).toEqual([
    1250, 1250, 1250, 125_000,
  ]);
});
