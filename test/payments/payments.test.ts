/** Payments over the wire, from the link to the money, and back. */
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { endAgreements } from '#db/payouts/offer-transitions.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { newId } from '#runtime/ids.ts';
import { type Caller, errorOf } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { type PayingFixture, usePayingFixture, webhookSecret } from './fixture.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const soon = { timeout: 20_000, interval: 50 };

test.each(['own_key', 'connect'] as const)(
  'on the rail %s a link is opened, paid and recorded as paid',
  async (rail) => {
    const { read, payUrl, id, account } = await fixture.newPayment({ rail }, { reference: 'order 12' });
    expect(await read()).toMatchObject({
      status: 'open',
      amount: 1250,
      currency: 'EUR',
      reference: 'order 12',
      payout_account_id: account.id,
      paid_at: null,
      next_action: expect.stringContaining('pay_url'),
    });
    const { status, page } = await fixture.openLink(payUrl);
    expect(status).toBe(303);
    const back = await fixture.press(page);
    expect(back.text).toContain('Paid, thank you');
    const shown = await read();
    expect(shown).toMatchObject({ status: 'paid', paid_at: expect.any(String) });
    expect(shown).not.toHaveProperty('next_action');
    expect(fixture.heldFor(id)).toBe(1250);
    const again = await fixture.openLink(payUrl);
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('Paid, thank you')]);
  },
);

test('a collaborator does not see which payout account receives a payment', async () => {
  const { owner, site, id, account } = await fixture.newPayment();
  const helper = await people(fixture).newCollaborator(owner, site.id);
  const created = await helper.call('POST', `/v1/sites/${site.id}/payments`, {
    body: { amount: 500, currency: 'EUR' },
  });
  const payments = `/v1/sites/${site.id}/payments`;
  const read = (caller: Caller) =>
    Promise.all([payments, `/v1/payments/${id}`].map((path) => caller.call('GET', path)));
  for (const answer of [created, ...(await read(helper))]) {
    expect([answer.status, answer.text]).toEqual([200, expect.not.stringContaining(account.id)]);
  }
  for (const { text } of await read(owner)) expect(text).toContain(`"payout_account_id":"${account.id}"`);
});

test('the reference is stored unchanged, whatever it contains', async () => {
  const reference = '{"pay":0} <b>%00</b> ../../ ☂';
  const { read } = await fixture.newPayment({}, { reference });
  expect((await read()).reference).toBe(reference);
});

describe('a completed payment is noticed', () => {
  test('by polling alone on own_key, even if the payer never returns', async () => {
    const { payUrl, statusOf } = await fixture.newPayment({ rail: 'own_key' });
    await fixture.press((await fixture.openLink(payUrl)).page, 'pay', { comesBack: false });
    await expect.poll(statusOf, soon).toBe('paid');
  });

  test('by a signed message at once on connect, or by polling without it', async () => {
    const { payUrl, statusOf } = await fixture.newPayment({ rail: 'connect' });
    setForTest(fixture.stub.knobs, { loseWebhooks: 1 });
    await fixture.press((await fixture.openLink(payUrl)).page, 'pay', { comesBack: false });
    fixture.stub.knobs.loseWebhooks = 0;
    await expect.poll(statusOf, soon).toBe('paid');
  });
});

test('a declined card or a departing payer changes nothing, and the link stays valid', async () => {
  const { payUrl, statusOf } = await fixture.newPayment();
  const { page } = await fixture.openLink(payUrl);
  expect((await fixture.press(page, 'decline')).status).toBe(402);
  const left = await fixture.press(page, 'cancel');
  expect(left.text).toContain('You have not paid yet');
  expect(left.text).toContain(payUrl);
  expect(await statusOf()).toBe('open');
  await fixture.press((await fixture.openLink(payUrl)).page);
  expect(await statusOf()).toBe('paid');
});

describe('amounts of a payment', () => {
  test.each([
    [1250, 'JPY'],
    [5000, 'KWD'],
    [50, 'EUR'],
    [99_999_999, 'USD'],
    [1, 'XOF'],
  ])('%i %s is accepted', async (amount, currency) => {
    const { payUrl, id, statusOf } = await fixture.newPayment({}, { amount, currency });
    const { page } = await fixture.openLink(payUrl);
    await fixture.press(page);
    expect([await statusOf(), fixture.heldFor(id)]).toEqual(['paid', amount]);
  });

  test.each([
    [49, 'EUR'],
    [100_000_000, 'USD'],
    [5001, 'KWD'],
    [1250, 'eur'],
    [1250, 'XYZ'],
    [0, 'EUR'],
    [-5, 'EUR'],
    [12.5, 'EUR'],
    [1_000_000, 'ISK'],
  ])('%d %s is refused', async (amount, currency) => {
    const { owner, site } = await fixture.newPaidSite();
    const answer = await owner.call('POST', `/v1/sites/${site.id}/payments`, { body: { amount, currency } });
    expect(errorOf(answer).code).toBe('invalid_payment');
  });
});

describe('the payout account', () => {
  const ask = async (made: Awaited<ReturnType<PayingFixture['newPaidSite']>>) =>
    await made.owner.call('POST', `/v1/sites/${made.site.id}/payments`, { body: { amount: 1250, currency: 'EUR' } });

  test('must be chosen and ready, and must have a currency', async () => {
    const owner = await fixture.newCaller();
    const site = await fixture.newSite(owner);
    const none = await owner.call('POST', `/v1/sites/${site.id}/payments`, { body: { amount: 1250, currency: 'EUR' } });
    expect(errorOf(none)).toMatchObject({
      code: 'no_payout_account',
      next_action: expect.stringContaining('payout-account'),
    });
    expect(errorOf(await ask(await fixture.newPaidSite({ status: 'pending' }))).code).toBe('payout_account_pending');
    expect(errorOf(await ask(await fixture.newPaidSite({ currency: null }))).code).toBe('payout_account_no_currency');
  });

  test('cannot be set on an archived site, whose links redirect nowhere', async () => {
    const made = await fixture.newPayment();
    await made.owner.call('POST', `/v1/sites/${made.site.id}/archive`);
    expect(errorOf(await ask(made)).code).toBe('site_archived');
    expect(await fixture.openLink(made.payUrl)).toMatchObject({ status: 410, page: null });
  });
});

test('a site’s payments are listed by status and time', async () => {
  const { owner, site, id, payUrl } = await fixture.newPayment();
  await fixture.press((await fixture.openLink(payUrl)).page);
  const { body: second } = await owner.call('POST', `/v1/sites/${site.id}/payments`, {
    body: { amount: 700, currency: 'EUR' },
  });
  const list = async (query = '') =>
    (await owner.call('GET', `/v1/sites/${site.id}/payments${query}`)).body.items?.map((one: { id: string }) => one.id);
  expect(await list()).toEqual([second.id, id]);
  expect([await list('?status=paid'), await list('?status=open')]).toEqual([[id], [second.id]]);
  expect(await list(`?since=${new Date(second.created_at).toISOString()}`)).toEqual([second.id]);
  const wrong = async (query: string) => errorOf(await owner.call('GET', `/v1/sites/${site.id}/payments${query}`)).code;
  expect([await wrong('?status=lost'), await wrong('?since=monday')]).toEqual(['invalid_status', 'invalid_since']);
  fixture.skip(31 * 24 * 3600_000);
  expect([await list('?status=open'), await list('?status=expired')]).toEqual([[], [second.id]]);
});

test('an unknown payment link is not found, and an expired one returns 410', async () => {
  expect((await fixture.openLink(`${fixture.url}/pay/${newId('pay')}`)).status).toBe(404);
  const { payUrl } = await fixture.newPayment();
  fixture.skip(31 * 24 * 3600_000);
  const over = await fixture.openLink(payUrl);
  expect([over.status, over.text]).toEqual([410, expect.stringContaining('This payment link has expired')]);
});

describe('messages to /hooks/payments', () => {
  const tell = (body: string, signature: string) =>
    fetch(`${fixture.url}/hooks/payments`, { method: 'POST', body, headers: { 'stripe-signature': signature } });
  const sign = (payload: string, secret: string, at = fixture.clock.now()) => {
    const timestamp = Math.floor(at.getTime() / 1000);
    return Stripe.webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp });
  };

  test('are trusted only if signed and recent', async () => {
    const type = 'checkout.session.completed';
    const body = JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object: {} } });
    const signed = (secret: string) => sign(body, secret);
    expect((await tell(body, await signed('whsec_of_somebody'))).status).toBe(400);
    expect((await tell(body, 't=1,v1=00')).status).toBe(400);
    expect((await tell(`${body} `, await signed(webhookSecret))).status).toBe(400);
    const longAgo = new Date(fixture.clock.now().getTime() - 301_000);
    expect((await tell(body, await sign(body, webhookSecret, longAgo))).status).toBe(400);
    expect((await tell(body, await signed(webhookSecret))).status).toBe(200);
    expect((await tell(body, await signed(webhookSecret))).status).toBe(200);
    const heard = await fixture.deps.em().execute('select 1 from payment_event where id = ?', ['evt_1']);
    expect(heard).toHaveLength(1);
  });

  test('change nothing by themselves: the provider is queried', async () => {
    const { payUrl, id, statusOf } = await fixture.newPayment();
    await fixture.openLink(payUrl);
    const object = { object: 'checkout.session', payment_status: 'paid', metadata: { payment: id } };
    const body = JSON.stringify({ id: 'evt_2', object: 'event', type: 'checkout.session.completed', data: { object } });
    expect((await tell(body, await sign(body, webhookSecret))).status).toBe(200);
    const handle = fixture.deps.temporal.workflow.getHandle(`payment:${id}`);
    const asked = async () => {
      const { events } = await handle.fetchHistory();
      return events?.some((event) => event.workflowExecutionSignaledEventAttributes) ?? false;
    };
    await expect.poll(asked, soon).toBe(true);
    expect(await statusOf()).toBe('open');
  });
});

test('a new payment and the deletion of its owner’s account do not deadlock', async () => {
  const { owner, site } = await fixture.newPayment();
  const { creating } = await fixture.deps.em().transactional(async (tx) => {
    await lockSite(tx, site.id);
    const creating = owner.call('POST', `/v1/sites/${site.id}/payments`, { body: { amount: 500, currency: 'EUR' } });
    await untilBlocked(fixture.deps);
    await endAgreements(tx, { site: site.id }, { by: 'site', now: fixture.clock.now() });
    return { creating };
  });
  expect(errorOf(await creating).code).toBe('no_payout_account');
});

test('neither responses nor our pages name the provider', async () => {
  const { read, payUrl, refund } = await (async () => {
    const made = await fixture.newPayment();
    return { ...made, refund: () => made.owner.call('POST', `/v1/payments/${made.id}/refund`) };
  })();
  const { page } = await fixture.openLink(payUrl);
  const texts = [JSON.stringify(await read()), (await fixture.press(page)).text, (await refund()).text];
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  const other = await fixture.newPayment();
  texts.push((await fixture.openLink(other.payUrl)).text);
  fixture.stub.knobs.turnAway = 0;
  // An awning has stripes.
  const said = texts.map((text) => text.replace(/<style>.*?<\/style>|<svg.*?<\/svg>|<link rel="icon"[^>]*>/gs, ''));
  for (const text of said) expect(text).not.toMatch(/stripe|cs_test|pi_[0-9a-f]|acct_[0-9a-f]{16}/i);
});
