/** A whole history of payments with faults: afterwards everything stored and logged is searched for secrets. */
import protos from '@temporalio/proto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Booking } from '#db/bookings/booking.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { callWith } from '#test/api/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { startWorker } from '#test/stack/worker.ts';
import { createPayingFixture, type PayingFixture, paymentsKey, webhookSecret } from './fixture.ts';
import { mailsWaiting } from './held.ts';

const billingKey = `${paymentsKey}_plans`;
const billingSecret = 'whsec_of_the_plans';
const soon = { timeout: 20_000, interval: 50 };

let fixture: PayingFixture;
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeAll(async () => {
  fixture = await createPayingFixture((port) => ({
    FRONTAGE_BILLING_KEY: billingKey,
    FRONTAGE_BILLING_URL: `http://127.0.0.1:${port}`,
    FRONTAGE_BILLING_WEBHOOK_SECRET: billingSecret,
  }));
  fixture.deps.log.level = 'trace';
  worker = await startWorker(fixture.deps);
});
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
});

const secrets = new Map<string, string>();
const keep = (what: string, secret: string | null | undefined) => {
  expect([what, (secret ?? '').length > 10]).toEqual([what, true]);
  secrets.set(what, secret as string);
};
const refusals: string[] = [];
const pathOf = (url: string) => new URL(url).pathname;
const lastOf = (url: string) => pathOf(url).split('/').at(-1);

type Owner = Awaited<ReturnType<PayingFixture['newCaller']>>;
const accounts = '/v1/account/payout-accounts';

/** Both kinds of account, keys that are refused and replaced, and the way through the provider's pages. */
async function connect(owner: Owner, siteId: string) {
  const keys = ['one', 'one_next', 'revoked', 'unanswered'].map((what) => `rk_test_${'owner'.repeat(4)}${what}`);
  const [key, next, bad, lost] = keys as [string, string, string, string];
  for (const [at, one] of keys.entries()) keep(`key ${at}`, one);
  const headers = { 'idempotency-key': 'one-account' };
  const { body, text } = await owner.call('POST', accounts, { body: { secret_key: key }, headers });
  expect(text).toContain('ready');
  expect((await owner.call('POST', `${accounts}/${body.id}/key`, { body: { secret_key: next } })).status).toBe(200);
  refusals.push((await owner.call('POST', accounts, { body: { secret_key: bad } })).text);
  refusals.push((await owner.call('POST', accounts, { body: { secret_key: bad, rail: 'connect' } })).text);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  refusals.push((await owner.call('POST', accounts, { body: { secret_key: lost } })).text);
  fixture.stub.knobs.turnAway = 0;
  await owner.call('POST', `/v1/sites/${siteId}/payout-account`, { body: { payout_account_id: body.id } });
  const connected = (await owner.call('POST', accounts, { body: { rail: 'connect' } })).body;
  const link = (await owner.call('POST', `${accounts}/${connected.id}/onboarding`)).body.url;
  keep('link that connects', lastOf(link));
  const page = (await callWith(fixture.url)('GET', pathOf(link))).headers.get('location');
  keep('page of the provider that connects', page);
  await fetch(`${page}/finish`, { method: 'POST', redirect: 'manual' });
  refusals.push((await callWith(fixture.url)('GET', `${pathOf(link)}x`)).text);
}

async function payAndRefund(owner: Owner, siteId: string) {
  const body = { amount: 1250, currency: 'EUR', reference: 'order 12' };
  const payment = (await owner.call('POST', `/v1/sites/${siteId}/payments`, { body })).body;
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  refusals.push((await fixture.openLink(payment.pay_url)).text);
  fixture.stub.knobs.turnAway = 0;
  const { page } = await fixture.openLink(payment.pay_url);
  keep('page to pay on', page);
  await fixture.press(page);
  setForTest(fixture.stub.knobs, { failRefunds: true });
  const refund = () => owner.call('POST', `/v1/payments/${payment.id}/refund`, { headers: { prefer: 'wait=1' } });
  refusals.push((await refund()).text);
  fixture.stub.knobs.failRefunds = false;
  await expect.poll(async () => (await refund()).body.status, soon).toBe('refunded');
}

async function bookAndCancel(owner: Owner, siteId: string) {
  const service = { price: { amount: 2500, currency: 'EUR' }, hold_minutes: 15 };
  const declared = await owner.call('POST', `/v1/sites/${siteId}/bookable`, { body: timetable({ service }) });
  const publicId = declared.body.public_id;
  const start = (await fixture.slots(publicId, fixture.dateIn(5)))[0]?.start ?? '';
  const visitor = { name: 'Ada', email: 'ada.of.the.secrets@example.org' };
  keep('address of a visitor', visitor.email);
  const { id, pay_url, payment_id } = (await fixture.book(publicId, start, { visitor })).body;
  const { page } = await fixture.openLink(pay_url);
  keep('page to pay for a booking', page);
  await fixture.press(page);
  const mail = async () => (await mailsWaiting(fixture, 'booking-confirmed', id))[0];
  await expect.poll(mail, soon).toBeDefined();
  const { cancelUrl } = ((await mail())?.data ?? {}) as { cancelUrl: string };
  keep('link that cancels', lastOf(cancelUrl));
  expect((await callWith(fixture.url)('GET', pathOf(cancelUrl))).status).toBe(200);
  refusals.push((await callWith(fixture.url)('POST', pathOf(cancelUrl))).text);
  expect((await owner.call('POST', `/v1/bookings/${id}/cancel`)).status).toBe(200);
  await expect.poll(fixture.reading(owner, payment_id).statusOf, soon).toBe('refunded');
  expect((await fixture.deps.em().findOneOrFail(Booking, { id })).visitorSealed).toBe(null);
}

async function subscribe(owner: Owner) {
  const { url } = (await owner.call('POST', '/v1/billing/checkout', { body: { plan: 'hobby' } })).body;
  keep('page that sells a plan', url);
  await fetch(`${url}/pay`, { method: 'POST', redirect: 'manual' });
  await expect.poll(async () => (await owner.call('GET', '/v1/billing')).body.plan, soon).toBe('hobby');
  keep('page that manages a plan', (await owner.call('POST', '/v1/billing/portal')).body.url);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  refusals.push((await owner.call('POST', '/v1/billing/checkout', { body: { plan: 'studio' } })).text);
  fixture.stub.knobs.turnAway = 0;
}

/** Whatever the engine keeps of the workflows that were started. */
async function histories(): Promise<Buffer> {
  const entries = await fixture.deps.em().find(OutboxEntry, { kind: 'start', sentAt: { $ne: null } });
  const ids = [...new Set(entries.map(({ workflowId }) => workflowId))];
  const kept = ids.map(async (id) => {
    const history = await fixture.deps.temporal.workflow.getHandle(id).fetchHistory();
    return protos.temporal.api.history.v1.History.encode(history).finish();
  });
  return Buffer.concat(await Promise.all(kept));
}

/** Every row of every table, as a dump has it. */
async function rows(): Promise<string> {
  const em = fixture.deps.em();
  const tables = await em.execute<{ name: string }[]>(
    `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`,
  );
  return JSON.stringify(await Promise.all(tables.map(({ name }) => em.execute(`select t::text from ${name} t`))));
}

/** As it would stand in text, in bytes of a row, and in base64. */
const spellings = (secret: string) => [
  secret,
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').slice(0, -4),
];

test('keys, webhook secrets, links and addresses are in no row, log, history or error', async () => {
  const owner = await fixture.newCaller();
  const site = await fixture.newSite(owner);
  for (const [what, secret] of Object.entries({ paymentsKey, webhookSecret, billingKey, billingSecret }))
    keep(what, secret);
  await connect(owner, site.id);
  await payAndRefund(owner, site.id);
  await bookAndCancel(owner, site.id);
  await subscribe(owner);
  await fixture.stub.settled();
  // The mails that wait hold the visitor's address sealed.
  const places = {
    rows: await rows(),
    log: JSON.stringify(fixture.logged),
    histories: await histories(),
    refusals: refusals.join('\n'),
  };
  expect(secrets.size).toBe(16);
  for (const [what, secret] of secrets) {
    for (const [place, kept] of Object.entries(places)) {
      for (const spelt of spellings(secret)) expect([what, place, kept.includes(spelt)]).toEqual([what, place, false]);
    }
  }
  // The places are not empty, and the search finds what stands in them.
  const { charge, paymentId } = await someCharge();
  expect([
    places.rows.includes(charge),
    places.log.includes('payment.refund'),
    places.histories.includes(paymentId),
  ]).toEqual([true, true, true]);
  expect([refusals.length, refusals.filter((text) => text.length > 0).length]).toEqual([8, 8]);
});

async function someCharge(): Promise<{ charge: string; paymentId: string }> {
  const [attempt] = await fixture.deps.em().find(PaymentAttempt, { status: 'paid' });
  return { charge: attempt?.charge ?? 'none', paymentId: attempt?.payment.id ?? 'none' };
}
