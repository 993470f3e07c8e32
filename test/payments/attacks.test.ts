/** Payers, robots and owners who misuse payments. */
import { expect, test } from 'vitest';
import { LedgerFlag } from '#db/payments/ledger-flag.ts';
import { Payment } from '#db/payments/payment.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { encryptKey } from '#db/payouts/credentials.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { minuteMs } from '#rules/time.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { attachAccount, type PayingFixture, usePayingFixture } from './fixture.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const soon = { timeout: 20_000, interval: 50 };
const em = () => fixture.deps.em();

/** Two open pages of one payment: the first is too short-lived to be used again. */
async function twoPages(payUrl: string): Promise<[string | null, string | null]> {
  const { page: first } = await fixture.openLink(payUrl);
  fixture.skip(31 * minuteMs);
  const { page: second } = await fixture.openLink(payUrl);
  expect(second).not.toBe(first);
  return [first, second];
}

test('openings at once and later redirect to one page while it is open', async () => {
  const { payUrl, id } = await fixture.newPayment();
  const opened = await Promise.all(Array.from({ length: 25 }, () => fixture.openLink(payUrl)));
  fixture.skip(20 * minuteMs);
  opened.push(await fixture.openLink(payUrl));
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([303]));
  expect(new Set(opened.map(({ page }) => page)).size).toBe(1);
  expect(await em().count(PaymentAttempt, { payment: id })).toBe(1);
});

test('a page that is about to expire is followed by a new one', async () => {
  const { payUrl } = await fixture.newPayment();
  const pages = await twoPages(payUrl);
  fixture.skip(11 * minuteMs);
  expect((await fetch(pages[0] ?? '')).status).toBe(410);
  expect((await fixture.openLink(payUrl)).page).toBe(pages[1]);
});

test('a link whose page was paid unnoticed shows the result', async () => {
  const { payUrl, id } = await fixture.newPayment();
  await fixture.press((await fixture.openLink(payUrl)).page, 'pay', { comesBack: false });
  const again = await fixture.openLink(payUrl);
  expect([again.status, again.text]).toEqual([200, expect.stringContaining('Paid, thank you')]);
  expect(fixture.heldFor(id)).toBe(1250);
});

test('a second completion on another page of the payment is refunded', async () => {
  const { payUrl, id, statusOf } = await fixture.newPayment();
  const pages = await twoPages(payUrl);
  await Promise.all(pages.map((page) => fixture.press(page, 'pay')));
  await expect.poll(() => fixture.heldFor(id), soon).toBe(1250);
  expect([fixture.chargesOf(id).length, await statusOf()]).toEqual([2, 'paid']);
});

test('once it is paid, the payment’s other pages are closed', async () => {
  const { payUrl } = await fixture.newPayment();
  const [one, two] = await twoPages(payUrl);
  await fixture.press(one);
  await expect.poll(async () => (await fetch(two ?? '')).status, soon).toBe(410);
});

test('an opening whose response was lost is followed by the same page', async () => {
  const { payUrl, id } = await fixture.newPayment();
  setForTest(fixture.stub.knobs, { loseAnswers: 1 });
  const lost = await fixture.openLink(payUrl);
  fixture.stub.knobs.loseAnswers = 0;
  expect(lost.status).toBe(502);
  fixture.skip(5_000);
  const { page } = await fixture.openLink(payUrl);
  const attempts = await em().find(PaymentAttempt, { payment: id });
  expect(attempts).toMatchObject([{ status: 'open', sessionId: page?.split('/').at(-1) }]);
});

test('HEAD, previewers, prefetches and subresources open no page', async () => {
  const { id, payUrl } = await fixture.newPayment();
  const link = `${fixture.url}${new URL(payUrl).pathname}`;
  const previewer = 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)';
  const lookers: RequestInit[] = [
    { method: 'HEAD' },
    { headers: { 'user-agent': previewer } },
    { headers: { 'user-agent': 'WhatsApp/2.23.20.0 A' } },
    { headers: { 'sec-purpose': 'prefetch;prerender', 'sec-fetch-dest': 'document' } },
    { headers: { 'sec-fetch-dest': 'image' } },
  ];
  for (const looker of lookers) {
    const answer = await fetch(link, { redirect: 'manual', ...looker });
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
    expect(await answer.text()).toContain(looker.method === 'HEAD' ? '' : 'Pay €12.50');
  }
  expect(await em().count(PaymentAttempt, { payment: id })).toBe(0);
  // A person whose browser calls itself what it likes, by the button.
  const headers = { 'user-agent': previewer, 'sec-fetch-dest': 'document', 'sec-fetch-user': '?1' };
  expect((await fetch(link, { redirect: 'manual', headers })).status).toBe(303);
  expect((await fixture.openLink(payUrl)).status).toBe(303);
  expect(await em().count(PaymentAttempt, { payment: id })).toBe(1);
});

test('a refund with a revoked key continues with the new key', async () => {
  const { payUrl, id, owner, account, statusOf } = await fixture.newPayment();
  await fixture.press((await fixture.openLink(payUrl)).page);
  const { key } = account as { key: string };
  const withKey = (one: string) =>
    em().nativeUpdate(PayoutAccount, { id: account.id }, { sealedKey: encryptKey(fixture.config, account.id, one) });
  await withKey('rk_test_revoked0000');
  await owner.call('POST', `/v1/payments/${id}/refund`, { headers: { prefer: 'respond-async' } });
  const fault = async () => (await em().findOneOrFail(PaymentAttempt, { payment: id })).refundFault;
  await expect.poll(fault, soon).toContain('invalid_credentials');
  expect(await statusOf()).toBe('refunding');
  await withKey(key);
  await expect.poll(statusOf, soon).toBe('refunded');
  expect(fixture.heldFor(id)).toBe(0);
});

test('a provider account added twice is compared with both rows’ payments', async () => {
  const one = await fixture.newPayment();
  const { key, id } = one.account as { key: string; id: string };
  const { page } = await fixture.openLink(one.payUrl);
  const other = await fixture.newCaller();
  const site = await fixture.newSite(other);
  const twin = await attachAccount(fixture, other, site.id, { key });
  await em().nativeUpdate(PayoutAccount, { id: { $in: [id, twin.id] } }, { providerAccount: `acct_of_${id}` });
  const body = { amount: 900, currency: 'EUR' };
  const two = await other.call('POST', `/v1/sites/${site.id}/payments`, { body });
  await fixture.press((await fixture.openLink(two.body.pay_url)).page);
  await fixture.press(page);
  expect([await one.statusOf(), (await em().findOneOrFail(Payment, { id: two.body.id })).status]).toEqual([
    'paid',
    'paid',
  ]);
  await fixture.deps.temporal.workflow.execute('checkLedger', { workflowId: 'ledger twice', taskQueue: 'platform' });
  expect(await em().find(LedgerFlag, { payoutAccountId: { $in: [id, twin.id] } })).toEqual([]);
});
