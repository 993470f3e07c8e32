/** Refunds of a part of a payment: exact, never more than was paid, and never twice. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { checkLedger } from '#activities/ledger.ts';
import { giveBackCharge } from '#activities/payments/refunds.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { PaymentRefund } from '#db/payments/payment-refund.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { errorOf } from '#test/api/fixture.ts';
import { connect } from '#test/mcp/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { until } from '#test/stack/until.ts';
import { writeMail } from '#web/mails/mails.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { heldIn, mailsWaiting } from './held.ts';
import { newPaid } from './parts.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const em = () => fixture.deps.em();

const paid = (...given: Parameters<PayingFixture['newPayment']>) => newPaid(fixture, ...given);

const later = { prefer: 'respond-async' };
const laterOnce = () => ({ ...later, 'idempotency-key': randomUUID() });

describe('a part of a payment', () => {
  test.each(['own_key', 'connect'] as const)('is refunded on the rail %s, until nothing is left', async (rail) => {
    const { id, refund, owner, site, payUrl, atProvider } = await paid({ rail });
    const part = { status: 'paid', refunded_amount: 500, refunded_at: expect.any(String) };
    expect((await refund(500)).body).toMatchObject(part);
    expect((await fixture.openLink(payUrl)).text).toContain('€5.00');
    const { items } = (await owner.call('GET', `/v1/sites/${site.id}/payments`)).body;
    expect(items).toEqual([expect.objectContaining({ id, ...part })]);
    const list = `/v1/sites/${site.id}/payments`;
    await owner.call('POST', list, { body: { amount: 1250, currency: 'EUR' } });
    const refunded = async () => (await owner.call('GET', `${list}?refunded=true`)).body.items;
    expect(await refunded()).toEqual(items);
    const last = (await refund(750)).body;
    expect(last).toMatchObject({ status: 'refunded', refunded_amount: 1250, refunded_at: expect.any(String) });
    expect(await refunded()).toEqual([expect.objectContaining({ id, status: 'refunded' })]);
    expect([fixture.heldFor(id), atProvider()]).toEqual([0, [500, 750]]);
    expect(errorOf(await refund(1))).toMatchObject({ code: 'invalid_payment' });
    expect((await refund()).body).toMatchObject({ status: 'refunded', refunded_amount: 1250 });
  });

  test('is followed by the refund of all that is left', async () => {
    const { id, refund, atProvider } = await paid();
    await refund(300);
    expect((await refund()).body).toMatchObject({ status: 'refunded', refunded_amount: 1250 });
    expect([fixture.heldFor(id), atProvider()]).toEqual([0, [300, 950]]);
  });

  test('needs an idempotency key, and is refunded once under it', async () => {
    const { id, refund, parts } = await paid();
    const refused = errorOf(await refund(500, {}));
    expect(refused).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('idempotency key') });
    const key = { 'idempotency-key': 'the-till-12' };
    const answers = await Promise.all([refund(500, key), refund(500, key), refund(500, key)]);
    for (const { body } of answers) expect(body).toMatchObject({ id, refunded_amount: 500 });
    expect(errorOf(await refund(600, key)).code).toBe('idempotency_mismatch');
    expect([fixture.heldFor(id), (await parts()).length]).toEqual([750, 1]);
  });

  test('is refunded by a tool, which takes the key', async () => {
    const { id, owner, atProvider } = await paid();
    const agent = await connect(fixture.url, owner.token);
    const refused = (await agent.call('payment_refund', { id, amount: 500 })).error;
    expect([refused.code, /header|Idempotency-Key/.test(JSON.stringify(refused))]).toEqual(['invalid_input', false]);
    const keyed = { id, amount: 500, idempotency_key: 'by-a-tool' };
    for (const _time of ['first', 'again'])
      expect((await agent.call('payment_refund', keyed)).body).toMatchObject({ id, refunded_amount: 500 });
    expect(atProvider()).toEqual([500]);
    const { content } = await agent.call('find_operations', { words: 'refund a payment', limit: 1 });
    const [{ text }] = content as unknown as [{ text: string }];
    expect(text).toContain('with `amount` a part. A part requires an `idempotency_key`.');
    await agent.close();
  });

  test.each([0, -5, 12.5, 1251])('of %d is invalid_payment', async (amount) => {
    const { id, refund } = await paid();
    expect(errorOf(await refund(amount)).code).toBe('invalid_payment');
    expect(fixture.heldFor(id)).toBe(1250);
  });

  test('beyond the rest is invalid_payment, and says what is left', async () => {
    const { refund } = await paid();
    await refund(1000);
    const { code, message } = errorOf(await refund(251));
    expect([code, message]).toEqual(['invalid_payment', expect.stringContaining('€2.50')]);
  });

  test('has the decimal places of its currency, here and at the provider', async () => {
    const dinars = await paid({ currency: 'KWD' }, { currency: 'KWD', amount: 5000 });
    expect(errorOf(await dinars.refund(1005)).code).toBe('invalid_payment');
    expect((await dinars.refund(1010)).body.refunded_amount).toBe(1010);
    const kronur = await paid({ currency: 'ISK' }, { currency: 'ISK', amount: 5000 });
    expect((await kronur.refund(1234)).body.refunded_amount).toBe(1234);
    expect(kronur.atProvider()).toEqual([123_400]);
    await checkLedger(fixture.deps);
    expect((await kronur.read()).refunded_amount).toBe(1234);
  });

  test('is one of fifty at most, and the rest can be refunded after them', async () => {
    const { id, refund } = await paid();
    await refund(1);
    await em().execute(
      `insert into payment_refund (id, attempt_id, amount, began_at, failed_at)
       select 'ref_' || n || a.id, a.id, 1, now(), now() from payment_attempt a, generate_series(1, 49) n where payment_id = ?`,
      [id],
    );
    expect(errorOf(await refund(1))).toMatchObject({ code: 'invalid_payment', message: expect.stringContaining('50') });
    expect((await refund()).body.status).toBe('refunded');
  });

  test('is for the owner alone, of a paid payment', async () => {
    const { owner, site, id } = await paid();
    const sent = { body: { amount: 100 }, headers: { 'idempotency-key': 'mine' } };
    const guest = await fixture.newCollaborator(owner, site.id);
    expect(errorOf(await guest.call('POST', `/v1/payments/${id}/refund`, sent)).code).toBe('owner_only');
    const unpaid = await fixture.newPayment();
    const early = await unpaid.owner.call('POST', `/v1/payments/${unpaid.id}/refund`, sent);
    expect(errorOf(early).code).toBe('nothing_paid');
  });

  test('has its amount in the history of the site', async () => {
    const { refund, owner, site, id } = await paid();
    await refund(500);
    const { items } = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body;
    expect(items[0]).toMatchObject({
      action: 'payment.refunded',
      subject: { id },
      detail: { amount: 500, of: 1250, currency: 'EUR' },
    });
  });

  test('of a booking leaves its seat; cancelling refunds the rest', async () => {
    const { owner, id, paymentId, payUrl, payment, statusOf } = await heldIn(fixture);
    await fixture.press((await fixture.openLink(payUrl)).page);
    await until(statusOf, (status) => status === 'confirmed');
    const sent = { body: { amount: 1000 }, headers: { 'idempotency-key': 'rain' } };
    expect((await owner.call('POST', `/v1/payments/${paymentId}/refund`, sent)).body.refunded_amount).toBe(1000);
    expect(await statusOf()).toBe('confirmed');
    const cancelled = await owner.call('POST', `/v1/bookings/${id}/cancel`);
    expect(cancelled.status).toBe(200);
    const [mail] = await mailsWaiting(fixture, 'booking-cancelled', id);
    expect(mail?.data).toMatchObject({ moneyBack: '€15.00' });
    const { text } = writeMail('booking-cancelled', mail?.data as never, { baseUrl: fixture.config.baseUrl });
    const part =
      /The remaining €15\.00 of (your|the visitor’s) payment is being refunded; €10\.00 was refunded before\./;
    expect(text).toMatch(part);
    await until(payment.statusOf, (status) => status === 'refunded');
    expect(fixture.heldFor(paymentId)).toBe(0);
  });
});

describe('parts at the same time', () => {
  test('never exceed the payment, whichever come first', async () => {
    const { id, refund, read } = await paid();
    const answers = await Promise.all([500, 500, 500, 400, 300].map((amount) => refund(amount)));
    const done = answers.filter(({ status }) => status === 200).length;
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(errorOf(answer).code).toBe('invalid_payment');
    expect(done).toBeGreaterThanOrEqual(2);
    const { refunded_amount } = await read();
    expect(refunded_amount).toBeLessThanOrEqual(1250);
    expect(fixture.heldFor(id)).toBe(1250 - refunded_amount);
  });

  test('with a whole refund return exactly what was paid', async () => {
    const { id, refund, statusOf, atProvider } = await paid();
    await Promise.all([refund(100), refund(undefined, later), refund(200), refund(undefined, later)]);
    await until(statusOf, (status) => status === 'refunded');
    expect(fixture.heldFor(id)).toBe(0);
    expect(atProvider().reduce((sum: number, amount) => sum + Number(amount), 0)).toBe(1250);
  });
});

describe('a part whose refund is interrupted', () => {
  test('is refunded once, though answers are lost and the ledger check helps', async () => {
    const { id, refund, read, atProvider } = await paid();
    setForTest(fixture.stub.knobs, { loseAnswers: 1 });
    const { body } = await refund(500, laterOnce());
    expect(body).toMatchObject({ status: 'paid', refunded_amount: 0, next_action: expect.stringContaining('€5.00') });
    fixture.stub.knobs.loseAnswers = 0.6;
    fixture.skip(2 * 3600_000);
    const helped = async () => {
      await checkLedger(fixture.deps);
      return await read();
    };
    await until(helped, ({ refunded_amount }) => refunded_amount === 500);
    expect([fixture.heldFor(id), atProvider()]).toEqual([750, [500]]);
  });

  test('is not repeated when the provider has forgotten its idempotency key', async () => {
    const { id, refund, parts, atProvider } = await paid();
    await refund(500);
    const [part] = await parts();
    // As if the process had died before it recorded the refund.
    await em().nativeUpdate(PaymentRefund, { id: part?.id ?? '' }, { refundedAt: null, refusals: 7 });
    await em().execute('update payment set refunded_amount = 0, refunding_amount = 500 where id = ?', [id]);
    const attempt = await em().findOneOrFail(PaymentAttempt, { payment: id });
    expect(await giveBackCharge(fixture.deps, attempt.id, part?.id)).toBe('refunded');
    expect(await giveBackCharge(fixture.deps, attempt.id, part?.id)).toBe('refunded');
    expect([fixture.heldFor(id), atProvider()]).toEqual([750, [500]]);
  });

  test('that is pending at the provider counts when it is done, before the rest', async () => {
    const { id, refund, read, statusOf, atProvider } = await paid();
    setForTest(fixture.stub.knobs, { holdRefunds: true });
    await refund(500, laterOnce());
    await until(atProvider, ({ length }) => length > 0);
    expect(await read()).toMatchObject({ status: 'paid', refunded_amount: 0 });
    expect((await refund(undefined, later)).body.status).toBe('refunding');
    fixture.skip(2 * 3600_000);
    await checkLedger(fixture.deps);
    expect(atProvider()).toEqual([500]);
    fixture.stub.knobs.holdRefunds = false;
    await checkLedger(fixture.deps);
    await until(statusOf, (status) => status === 'refunded');
    expect([fixture.heldFor(id), atProvider()]).toEqual([0, [500, 750]]);
  });

  test('is given up with its account, and can be requested again', async () => {
    const { id, account, refund, read, parts } = await paid();
    setForTest(fixture.stub.knobs, { turnAway: 1 });
    const { sealedKey = null } = await em().findOneOrFail(PayoutAccount, { id: account.id });
    await refund(500, laterOnce());
    const gone = { status: 'gone' as const, sealedKey: null, goneAt: fixture.clock.now() };
    await em().nativeUpdate(PayoutAccount, { id: account.id }, gone);
    await until(parts, ([part]) => part?.failedAt != null);
    fixture.stub.knobs.turnAway = 0;
    await em().nativeUpdate(PayoutAccount, { id: account.id }, { status: 'ready', sealedKey, goneAt: null });
    expect(await read()).not.toHaveProperty('next_action');
    expect((await refund(1250)).body).toMatchObject({ status: 'refunded', refunded_amount: 1250 });
    expect(fixture.heldFor(id)).toBe(0);
  });
});
