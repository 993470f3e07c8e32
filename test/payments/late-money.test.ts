/** Bookings with late charges, and cancelled ones: a seat or a refund, and correct mails. */
import { describe, expect, test } from 'vitest';
import { checkLedger } from '#activities/ledger.ts';
import { Booking } from '#db/bookings/booking.ts';
import { sweepHolds } from '#db/bookings/holds.ts';
import { LedgerFlag } from '#db/payments/ledger-flag.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { closeCheckoutSession, recordOpenSession } from '#db/payments/transitions.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { errorOf } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { writeMail } from '#web/mails/mails.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { atRest, heldIn, mailsWaiting } from './held.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const soon = { timeout: 20_000, interval: 50 };
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const row = (id: string) => fixture.deps.em().findOneOrFail(Booking, { id });
const visitor = 'ada@example.org';
const told = async (kind: string, id: string) => (await mailsWaiting(fixture, kind, id)).map(({ to }) => to).sort();

describe('a charge found after hours without the provider', () => {
  /** A page about which the provider was silent until an hour after its end: nobody is waited for any more. */
  async function unasked({ pays = true, holdMinutes = 15, email = '' } = {}) {
    const made = await heldIn(fixture, { holdMinutes, wishes: { time_zone: 'America/New_York' } });
    const { page } = await fixture.openLink(made.payUrl);
    await atRest(fixture, made.paymentId);
    setForTest(fixture.stub.knobs, { turnAway: 1 });
    if (pays) await fixture.press(page, 'pay', { comesBack: false, email });
    fixture.skip(101 * minuteMs);
    await made.nudge();
    const attempt = () => fixture.deps.em().findOneOrFail(PaymentAttempt, { payment: made.paymentId });
    await expect.poll(async () => (await attempt()).status, soon).toBe('unasked');
    const answered = async () => {
      fixture.stub.knobs.turnAway = 0;
      return await checkLedger(fixture.deps);
    };
    return { ...made, answered, attempt };
  }
  const nextUnasked = async (options?: Parameters<typeof unasked>[0]) => {
    const made = await unasked(options);
    fixture.skip(15 * minuteMs);
    await expect.poll(made.statusOf, soon).toBe('expired');
    expect(await made.isOpen()).toBe(true);
    return made;
  };

  test('reserves the seat again if there is room', async () => {
    const { answered, statusOf, payment, id } = await nextUnasked();
    await answered();
    expect([await statusOf(), await payment.statusOf()]).toEqual(['confirmed', 'paid']);
    expect(await told('booking-confirmed', id)).toEqual([visitor]);
  });

  test('is refunded without room, and both sides are notified', async () => {
    const { answered, bookAnother, statusOf, payment, paymentId, owner, id } = await nextUnasked();
    expect((await bookAnother()).status).toBe(200);
    await answered();
    await expect.poll(payment.statusOf, soon).toBe('refunded');
    expect([await statusOf(), fixture.heldFor(paymentId)]).toEqual(['expired', 0]);
    expect(await told('money-returned', id)).toEqual([visitor, await fixture.emailOf(owner)].sort());
    const toVisitor = (await mailsWaiting(fixture, 'money-returned', id)).find(({ to }) => to === visitor);
    const { text } = writeMail('money-returned', toVisitor?.data as never, { baseUrl: fixture.config.baseUrl });
    for (const zone of ['Europe/Berlin', 'In your time zone: ', 'America/New_York']) expect(text).toContain(zone);
    expect((await row(id)).visitorSealed).toBe(null);
  });

  test('for a hold longer than the outage reserves the seat and notifies the visitor', async () => {
    const { answered, statusOf, id } = await unasked({ holdMinutes: 180 });
    expect(await statusOf()).toBe('held');
    fixture.skip(80 * minuteMs);
    await fixture.deps.temporal.workflow.getHandle(`booking:${id}`).signal('moved');
    await expect.poll(async () => (await row(id)).status, soon).toBe('expired');
    await answered();
    expect(await statusOf()).toBe('confirmed');
    expect(await told('booking-confirmed', id)).toEqual([visitor]);
    expect((await row(id)).visitorSealed).toBe(null);
  });

  test('that was never made leaves no contact data of the visitor', async () => {
    const { answered, attempt, id } = await nextUnasked({ pays: false });
    expect((await row(id)).visitorSealed).not.toBe(null);
    await answered();
    expect([(await attempt()).status, (await row(id)).visitorSealed]).toEqual(['closed', null]);
  });

  test('is refunded after eight days, since the visitor’s contact is deleted', async () => {
    const email = 'ada-payer@example.org';
    const { answered, payment, paymentId, statusOf, owner, id } = await nextUnasked({ email });
    fixture.skip(8 * dayMs);
    await sweepHolds(fixture.deps.em(), fixture.clock.now());
    expect((await row(id)).visitorSealed).toBe(null);
    await answered();
    await expect.poll(payment.statusOf, soon).toBe('refunded');
    expect(await statusOf()).toBe('expired');
    expect(await told('money-returned', id)).toEqual([await fixture.emailOf(owner)]);
    // Only the provider still knows an address: the payer's.
    expect(await told('payment-refunded', paymentId)).toEqual([email]);
  });

  test('is refunded if the hold was cancelled meanwhile, with a mail', async () => {
    const { answered, payment, owner, id } = await unasked({ holdMinutes: 180 });
    expect((await owner.call('POST', `/v1/bookings/${id}/cancel`)).status).toBe(200);
    await answered();
    await expect.poll(payment.statusOf, soon).toBe('refunded');
    expect(await told('money-returned', id)).toContain(visitor);
    expect((await row(id)).visitorSealed).toBe(null);
  });
});

describe('cancelling', () => {
  const paid = async () => {
    const made = await heldIn(fixture);
    await fixture.press((await fixture.openLink(made.payUrl)).page);
    const cancel = (by = made.owner) => by.call('POST', `/v1/bookings/${made.id}/cancel`);
    return { ...made, cancel };
  };

  test('a paid booking refunds the charge and frees the seat', async () => {
    const { owner, payment, paymentId, isOpen, id } = await paid();
    const headers = { 'idempotency-key': 'cancel-paid' };
    const { body } = await owner.call('POST', `/v1/bookings/${id}/cancel`, { headers });
    expect(body.status).toBe('cancelled');
    expect(body.refund).toMatchObject({ payment_id: paymentId, amount: 2500, currency: 'EUR' });
    expect(body).not.toHaveProperty('next_action');
    expect(await isOpen()).toBe(true);
    await expect.poll(payment.statusOf, soon).toBe('refunded');
    expect(fixture.heldFor(paymentId)).toBe(0);
    const again = await owner.call('POST', `/v1/bookings/${id}/cancel`, { headers });
    // The provider has no address of the payer.
    expect([body.refund.mail, again.body.refund]).toEqual([null, { ...body.refund, status: 'refunded' }]);
    const mails = await mailsWaiting(fixture, 'booking-cancelled', id);
    expect(mails.find(({ to }) => to === visitor)).toMatchObject({
      to: visitor,
      data: { moneyBack: '€25.00', moneyOwed: null },
    });
  });

  test('a held booking closes its page, and refunds a payment on it', async () => {
    const { payUrl, id, owner, paymentId, payment, nudge } = await heldIn(fixture);
    const { page } = await fixture.openLink(payUrl);
    await atRest(fixture, paymentId);
    setForTest(fixture.stub.knobs, { turnAway: 1 });
    await owner.call('POST', `/v1/bookings/${id}/cancel`);
    await fixture.press(page, 'pay', { comesBack: false });
    fixture.stub.knobs.turnAway = 0;
    await nudge();
    await expect.poll(payment.statusOf, soon).toBe('refunded');
    expect([fixture.heldFor(paymentId), (await row(id)).status]).toEqual([0, 'cancelled']);
  });

  test('a booking that was never paid names no e-mail that never was', async () => {
    const { owner, id, site, publicId, start } = await heldIn(fixture);
    // Its pay link was e-mailed, and no longer waits.
    await fixture.deps
      .em()
      .execute(`update mail set status = 'sent', sealed = null, settled_at = now() where site_id = ?`, [site.id]);
    const other = (await fixture.slots(publicId, start.slice(0, 10)))[0]?.start;
    const moved = await owner.call('POST', `/v1/bookings/${id}/move`, { body: { start: other } });
    expect(moved.body.next_action).toMatch(/tell Ada Visitor the new time .*, in person or by phone\.$/);
    const cancelled = await owner.call('POST', `/v1/bookings/${id}/cancel`);
    expect(cancelled.body.next_action).toContain('had not paid and gets no e-mail');
    for (const kind of ['booking-moved', 'booking-cancelled']) {
      const notices = await mailsWaiting(fixture, kind, id);
      expect([kind, notices.map(({ data }) => data)]).toMatchObject([kind, [{ to: 'site', wasNoticed: false }]]);
    }
  });

  test('a booking paid to a removed account promises nothing, and names who must refund', async () => {
    const { cancel, account, payment, payUrl, isOpen, id } = await paid();
    const gone = { status: 'gone' as const, sealedKey: null, goneAt: fixture.clock.now() };
    await fixture.deps.em().nativeUpdate(PayoutAccount, { id: account.id }, gone);
    const { body } = await cancel();
    expect(body).toMatchObject({ status: 'cancelled', next_action: expect.stringContaining('cannot refund it') });
    expect(body.next_action).toContain('payment provider’s dashboard');
    expect(body.refund).toMatchObject({ amount: 2500, currency: 'EUR', status: 'owed' });
    expect([await isOpen(), await payment.statusOf()]).toEqual([true, 'paid']);
    expect((await fixture.openLink(payUrl)).text).toContain('Paid, but not booked');
    const mails = await mailsWaiting(fixture, 'booking-cancelled', id);
    expect(mails.find(({ to }) => to === visitor)).toMatchObject({
      to: visitor,
      data: { moneyBack: null, moneyOwed: '€25.00' },
    });
    await checkLedger(fixture.deps);
    const flag = await fixture.deps.em().findOneOrFail(LedgerFlag, { subject: payment.id });
    expect(flag.why).toContain('the visitor is owed');
  });

  test('is for owners alone where money goes back, and otherwise for collaborators too', async () => {
    const [one, two] = [await paid(), await paid()];
    const free = await heldIn(fixture);
    const guestOf = ({ owner, site }: typeof free) => fixture.newCollaborator(owner, site.id);
    const unpaid = await (await guestOf(free)).call('POST', `/v1/bookings/${free.id}/cancel`);
    expect(unpaid.body).toMatchObject({ status: 'cancelled', refund: null });
    const guests = [await guestOf(one), await guestOf(two)];
    expect(errorOf(await one.cancel(guests[0])).code).toBe('owner_only');
    fixture.skip(Date.parse(two.start) - fixture.clock.now().getTime() + minuteMs);
    expect(errorOf(await two.cancel(guests[1])).code).toBe('owner_only');
    for (const each of [one, two]) {
      expect([await each.statusOf(), await each.payment.statusOf()]).toEqual(['confirmed', 'paid']);
      expect((await each.cancel()).body.status).toBe('cancelled');
      await expect.poll(each.payment.statusOf, soon).toBe('refunded');
    }
  });
});

test('a refund alone keeps the seat, and a later cancellation promises no money', async () => {
  const { payUrl, owner, paymentId, payment, statusOf, isOpen, id } = await heldIn(fixture);
  await fixture.press((await fixture.openLink(payUrl)).page);
  expect((await owner.call('POST', `/v1/payments/${paymentId}/refund`)).body.status).toBe('refunded');
  expect([await statusOf(), await isOpen()]).toEqual(['confirmed', false]);
  await checkLedger(fixture.deps);
  expect(await fixture.deps.em().find(LedgerFlag, { subject: { $in: [paymentId, id] } })).toEqual([]);
  const cancelled = (await owner.call('POST', `/v1/bookings/${id}/cancel`)).body;
  expect(cancelled).toMatchObject({ status: 'cancelled', refund: null });
  expect([await isOpen(), await payment.statusOf(), fixture.heldFor(paymentId)]).toEqual([true, 'refunded', 0]);
  const [mail] = await mailsWaiting(fixture, 'booking-cancelled', id);
  expect(mail).toMatchObject({ data: { moneyBack: null, moneyOwed: null } });
});

test('a closed page releases its own booking, and not one with an open page', async () => {
  const [open, closed] = [await heldIn(fixture), await heldIn(fixture)];
  for (const { payUrl, paymentId } of [open, closed]) {
    await fixture.openLink(payUrl);
    await atRest(fixture, paymentId);
  }
  const attempt = await fixture.deps.em().findOneOrFail(PaymentAttempt, { payment: closed.paymentId });
  await closeCheckoutSession(fixture.deps.em(), fixture.clock, attempt);
  expect([(await row(open.id)).paying, (await row(closed.id)).paying]).toEqual([true, false]);
  // Its creation may end only now, or be repeated.
  expect(await recordOpenSession(fixture.deps.em(), attempt.id, attempt.sessionId ?? '')).toBe(false);
  const other = await fixture.deps.em().findOneOrFail(PaymentAttempt, { payment: open.paymentId });
  expect(await recordOpenSession(fixture.deps.em(), other.id, other.sessionId ?? '')).toBe(true);
});
