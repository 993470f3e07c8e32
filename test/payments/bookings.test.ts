/** Bookings that cost money, over the wire: held, paid, confirmed. What is late or cancelled: late-money.test.ts. */

import { expect, test } from 'vitest';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { Booking } from '#db/bookings/booking.ts';
import { withPayment } from '#db/payments/transitions.ts';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { errorOf } from '#test/api/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { atRest, heldIn, mailsWaiting } from './held.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const soon = { timeout: 20_000, interval: 50 };
const minuteMs = 60_000;

const held = () => heldIn(fixture);
const row = (id: string) => fixture.deps.em().findOneOrFail(Booking, { id });

test('a priced service is held, paid at its link, and confirmed', async () => {
  const { booked, payUrl, read, payment, publicId, isOpen, id } = await held();
  expect(booked).toMatchObject({
    status: 'held',
    pay_url: expect.stringContaining('/pay/pay_'),
    hold_expires_at: expect.any(String),
    next_action: expect.stringContaining('Pay at pay_url'),
  });
  expect((await fixture.anyone('GET', `/b/${publicId}`)).body.services[0]).toMatchObject({ open: true });
  const { page } = await fixture.openLink(payUrl);
  expect((await row(id)).paying).toBe(true);
  const back = await fixture.press(page);
  expect(back.text).toContain('Paid and booked');
  expect(back.text).toContain(booked.reference);
  const links = { pay_url: null, hold_expires_at: null, payment_id: payment.id };
  expect(await read()).toMatchObject({ status: 'confirmed', ...links, mail: 'queued' });
  expect(await payment.statusOf()).toBe('paid');
  for (const kind of ['booking-confirmed', 'booking-taken']) {
    const [mail] = await mailsWaiting(fixture, kind, id);
    expect(mail?.data).toMatchObject({ paid: expect.stringMatching(/^€\d+\.\d\d$/) });
  }
  expect(await isOpen()).toBe(false);
  await expect.poll(async () => (await row(id)).paying, soon).toBe(false);
  expect((await row(id)).visitorSealed).toBe(null);
});

test.each([
  ['JPY', 1250, 1250],
  ['KWD', 12_500, 12_500],
  ['ISK', 5000, 500_000],
])('a booking in %s of %i is charged and refunded exactly', async (currency, amount, atProvider) => {
  const { payUrl, payment, id, owner, statusOf } = await heldIn(fixture, { price: { amount, currency } });
  await fixture.press((await fixture.openLink(payUrl)).page);
  expect([await statusOf(), fixture.chargesOf(payment.id).map((charge) => charge.amount)]).toEqual([
    'confirmed',
    [atProvider],
  ]);
  const { body } = await owner.call('POST', `/v1/bookings/${id}/cancel`);
  expect(body.refund).toMatchObject({ amount, currency });
  await expect.poll(payment.statusOf, soon).toBe('refunded');
  expect(fixture.chargesOf(payment.id)).toMatchObject([{ amount: atProvider, amount_refunded: atProvider }]);
});

test('the visitor of a paid booking is e-mailed its cancellation', async () => {
  const asked = await heldIn(fixture, { wishes: { notify_changes: true } });
  const silent = await held();
  for (const { payUrl, owner, id } of [asked, silent]) {
    await fixture.press((await fixture.openLink(payUrl)).page);
    const { body } = await owner.call('POST', `/v1/bookings/${id}/cancel`);
    const toVisitor = (await mailsWaiting(fixture, 'booking-cancelled', id)).filter(
      ({ to }) => to === 'ada@example.org',
    );
    if (id === asked.id) {
      expect([body.status, body.mail, body.notice, body.next_action]).toEqual([
        'cancelled',
        'queued',
        'queued',
        undefined,
      ]);
      expect(toVisitor).toEqual([expect.objectContaining({ data: expect.objectContaining({ moneyBack: '€25.00' }) })]);
    } else {
      // Its confirmation is still unsent, and is replaced.
      expect([body.mail, toVisitor.length]).toEqual(['queued', 1]);
    }
  }
});

test('an expiring hold closes its page before it frees the seat', async () => {
  const { payUrl, statusOf, isOpen, bookAnother, payment, id } = await held();
  const { page } = await fixture.openLink(payUrl);
  await atRest(fixture, payment.id);
  // The provider does not answer, so nobody can say that the page is closed.
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  fixture.skip(15 * minuteMs + 1000);
  expect([await statusOf(), await isOpen()]).toEqual(['held', false]);
  expect((await bookAnother()).body.error.code).toBe('slot_taken');
  expect(await payment.statusOf()).toBe('expired');
  fixture.stub.knobs.turnAway = 0;
  await fixture.deps.temporal.workflow.getHandle(`payment:${payment.id}`).signal('moved');
  await expect.poll(statusOf, soon).toBe('expired');
  expect((await fetch(page ?? '')).status).toBe(410);
  expect(await isOpen()).toBe(true);
  expect(await row(id)).toMatchObject({ paying: false, visitorSealed: null });
  expect((await fixture.openLink(payUrl)).status).toBe(410);
  expect((await bookAnother()).status).toBe(200);
});

test('a payer just before the hold’s end keeps the seat', async () => {
  const { payUrl, statusOf, payment } = await held();
  const { page } = await fixture.openLink(payUrl);
  await atRest(fixture, payment.id);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  await fixture.press(page, 'pay', { comesBack: false });
  fixture.skip(15 * minuteMs + 1000);
  fixture.stub.knobs.turnAway = 0;
  await fixture.deps.temporal.workflow.getHandle(`payment:${payment.id}`).signal('moved');
  await expect.poll(statusOf, soon).toBe('confirmed');
  expect(await payment.statusOf()).toBe('paid');
});

test('archiving a site ends its holds, and refunds late charges', async () => {
  const { payUrl, site, owner, paymentId, payment } = await held();
  const { page } = await fixture.openLink(payUrl);
  await atRest(fixture, payment.id);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  const { next_action } = (await owner.call('POST', `/v1/sites/${site.id}/archive`)).body;
  expect(next_action).toContain('1 booking that was not paid yet has expired, with the pay link');
  await fixture.press(page, 'pay', { comesBack: false });
  fixture.stub.knobs.turnAway = 0;
  await fixture.deps.temporal.workflow.getHandle(`payment:${paymentId}`).signal('moved');
  await expect.poll(payment.statusOf, soon).toBe('refunded');
  expect(fixture.heldFor(paymentId)).toBe(0);
});

test('a blocked site takes no money: links expire, holds end, late charges are refunded', async () => {
  const { payUrl, site, owner, id, paymentId, payment, bookAnother } = await held();
  const ask = () => owner.call('POST', `/v1/sites/${site.id}/payments`, { body: { amount: 700, currency: 'EUR' } });
  const { body: open } = await ask();
  expect((await fixture.openLink(open.pay_url)).status).toBe(303);
  const { page } = await fixture.openLink(payUrl);
  await atRest(fixture, paymentId);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  await blockSite(fixture.deps.em(), fixture.clock, site.id, 'It sells what it has not.');
  await fixture.press(page, 'pay', { comesBack: false });
  fixture.stub.knobs.turnAway = 0;
  expect((await row(id)).status).toBe('expired');
  for (const link of [payUrl, open.pay_url])
    expect(await fixture.openLink(link)).toMatchObject({ status: 410, page: null });
  const refused = await ask();
  expect([refused.status, errorOf(refused).code]).toEqual([409, 'site_archived']);
  expect(errorOf(await bookAnother()).code).toBe('bookings_unavailable');
  await fixture.deps.temporal.workflow.getHandle(`payment:${paymentId}`).signal('moved');
  await expect.poll(payment.statusOf, soon).toBe('refunded');
  expect([fixture.heldFor(paymentId), (await row(id)).status]).toEqual([0, 'expired']);
  await unblockSite(fixture.deps.em(), fixture.deps.clock, site.id);
  const { status, body: anew } = await ask();
  expect([status, (await fixture.openLink(anew.pay_url)).status]).toEqual([200, 303]);
  // What was open at the block has ended with it.
  expect((await fixture.openLink(open.pay_url)).status).toBe(410);
});

test('a site archived during a charge waits for it, and neither fails', async () => {
  const { owner, site, id, paymentId } = await held();
  const { archiving } = await withPayment(fixture.deps.em(), paymentId, async ({ tx, booking }) => {
    const archived = owner.call('POST', `/v1/sites/${site.id}/archive`);
    await untilBlocked(fixture.deps);
    Object.assign(booking ?? {}, { visitorName: 'Eve' });
    await tx.flush();
    return { archiving: () => archived };
  });
  expect((await archiving()).status).toBe(200);
  expect(await row(id)).toMatchObject({ status: 'expired', visitorName: 'Eve' });
});

test('a price below the card minimum is refused in a timetable', async () => {
  const owner = await fixture.newCaller();
  const site = await fixture.newSite(owner);
  const body = timetable({ service: { price: { amount: 10, currency: 'EUR' } } });
  const answer = await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body });
  expect(answer.body.error).toMatchObject({ code: 'invalid_timetable', message: expect.stringContaining('€0.50') });
});

test('no money goes to a blocked account, on any site', async () => {
  const { owner, site, payUrl, account, paymentId, bookAnother } = await held();
  const other = await fixture.newCaller();
  // The two have agreed on it, as by an offer.
  const em = fixture.deps.em();
  await em.execute('update payout_account set account_id = ? where id = ?', [other.accountId, account.id]);
  const asked = { body: { amount: 700, currency: 'EUR' } };
  const ask = () => owner.call('POST', `/v1/sites/${site.id}/payments`, asked);
  expect((await ask()).status).toBe(200);
  await atRest(fixture, paymentId);
  await blockAccount(fixture.deps.em(), fixture, other.accountId, 'It sells what it has not.');
  expect(await fixture.openLink(payUrl)).toMatchObject({ status: 410, page: null });
  const refused = await ask();
  expect([refused.status, errorOf(refused).code]).toEqual([409, 'payout_account_pending']);
  const unpaid = await bookAnother();
  expect([unpaid.status, errorOf(unpaid).code]).toEqual([400, 'payments_unavailable']);
  await unblockAccount(fixture.deps.em(), fixture, other.accountId);
  const { status, body: anew } = await ask();
  expect([status, (await fixture.openLink(anew.pay_url)).status]).toEqual([200, 303]);
  expect((await fixture.openLink(payUrl)).status).toBe(410);
});
