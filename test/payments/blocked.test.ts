/** Charges on pages that were open when a site or an account was blocked: all are refunded. */
import { describe, expect, test } from 'vitest';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { Booking } from '#db/bookings/booking.ts';
import { Payment } from '#db/payments/payment.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { atRest, heldIn, mailsWaiting } from './held.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const soon = { timeout: 20_000, interval: 50 };
const why = 'It sells what it has not.';
const em = () => fixture.deps.em();
const statusOf = async (id: string) => (await em().findOneOrFail(Payment, { id })).status;
type Made = Awaited<ReturnType<PayingFixture['newPayment']>>;

const blocks = {
  'of the site': ({ site }: Made) => blockSite(em(), fixture.clock, site.id, why),
  'of the account': ({ owner }: Made) => blockAccount(em(), fixture, owner.accountId, why),
  'of the payout account’s owner': async ({ account }: Made) => {
    const other = await fixture.newCaller();
    // The two have agreed on it, as by an offer.
    await em().execute('update payout_account set account_id = ? where id = ?', [other.accountId, account.id]);
    await blockAccount(em(), fixture, other.accountId, why);
  },
};

describe.each(Object.entries(blocks))('a block %s', (_whose, block) => {
  test('ends open payments, and closes their pages', async () => {
    const made = await fixture.newPayment();
    expect((await fixture.openLink(made.payUrl)).status).toBe(303);
    await atRest(fixture, made.id);
    await block(made);
    expect(await statusOf(made.id)).toBe('expired');
    const attempt = async () => (await em().findOneOrFail(PaymentAttempt, { payment: made.id })).status;
    await expect.poll(attempt, soon).toBe('closed');
  });

  test('refunds what was paid on a page that could not be closed', async () => {
    const made = await fixture.newPayment();
    const { page } = await fixture.openLink(made.payUrl);
    await atRest(fixture, made.id);
    setForTest(fixture.stub.knobs, { turnAway: 1 });
    await block(made);
    await fixture.press(page, 'pay', { comesBack: false });
    fixture.stub.knobs.turnAway = 0;
    await fixture.deps.temporal.workflow.getHandle(`payment:${made.id}`).signal('moved');
    await expect.poll(() => statusOf(made.id), soon).toBe('refunded');
    expect(fixture.heldFor(made.id)).toBe(0);
  });
});

test('a booking paid to a blocked account gets no seat, a refund and mails', async () => {
  const { account, payUrl, paymentId, id, owner, nudge } = await heldIn(fixture);
  const other = await fixture.newCaller();
  await em().execute('update payout_account set account_id = ? where id = ?', [other.accountId, account.id]);
  const { page } = await fixture.openLink(payUrl);
  await atRest(fixture, paymentId);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  await blockAccount(em(), fixture, other.accountId, why);
  await fixture.press(page, 'pay', { comesBack: false });
  fixture.stub.knobs.turnAway = 0;
  await nudge();
  await expect.poll(() => statusOf(paymentId), soon).toBe('refunded');
  expect(fixture.heldFor(paymentId)).toBe(0);
  expect(await em().findOneOrFail(Booking, { id })).toMatchObject({ status: 'expired', visitorSealed: null });
  const told = (await mailsWaiting(fixture, 'money-returned', id)).map(({ to }) => to).sort();
  expect(told).toEqual(['ada@example.org', await fixture.emailOf(owner)].sort());
});

test('concurrent blocks of accounts and sites that pay each other do not deadlock', async () => {
  const [one, two] = [await heldIn(fixture), await heldIn(fixture)];
  const both = [one, two];
  const pays = (made: typeof one, into: typeof one) =>
    em().execute('update payout_account set account_id = ? where id = ?', [into.owner.accountId, made.account.id]);
  await Promise.all([pays(one, two), pays(two, one)]);
  const later = new Date(fixture.clock.now().getTime() + 3600_000);
  const account = ({ owner }: typeof one) => blockAccount(em(), fixture, owner.accountId, why);
  const site = ({ site }: typeof one) => blockSite(em(), fixture.clock, site.id, why);
  for (let round = 0; round < 12; round++) {
    const acts = [() => account(one), () => (round % 3 === 2 ? site(two) : account(two))];
    await Promise.all((round % 2 === 0 ? acts : acts.reverse()).map((act) => act()));
    expect(await Promise.all(both.map(({ paymentId }) => statusOf(paymentId)))).toEqual(['expired', 'expired']);
    for (const { owner, site, id, paymentId } of both) {
      await unblockAccount(em(), fixture, owner.accountId);
      await unblockSite(em(), fixture.clock, site.id);
      await em().execute(`update booking set status = 'held', hold_expires_at = ? where id = ?`, [later, id]);
      await em().execute(`update payment set status = 'open', expires_at = ? where id = ?`, [later, paymentId]);
    }
  }
});
