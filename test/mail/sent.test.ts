/** Kinds of e-mails that no other test takes from a mail server. */
import { expect, test } from 'vitest';
import { blockAccount } from '#db/accounts/blocks.ts';
import { queueMail } from '#db/mail/queue.ts';
import { createSite } from '#test/api/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { atRest, heldIn } from '#test/payments/held.ts';
import { type MailedFixture, useMailedFixture } from '#test/payments/mailed-fixture.ts';
import { newBrowser } from '#test/people/browser.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { until } from '#test/stack/until.ts';

let fixture: MailedFixture;
useMailedFixture((made) => {
  fixture = made;
});
const received: MailedFixture['received'] = (...asked) => fixture.received(...asked);

const linkIn = (text: string) => ({
  link: /https?:\/\/\S+\/address\/\S+/.exec(text)?.[0],
  code: /^Code: (\w+)$/m.exec(text)?.[1],
});

test('both addresses receive links that confirm a new address', async () => {
  const { call } = await fixture.newCaller();
  const { email } = (await call('GET', '/v1/account')).body;
  const next = 'bakery@example.com';
  expect((await call('PATCH', '/v1/account', { body: { email: next } })).status).toBe(200);
  const first = await received(email, 'Do you want to change your e-mail address?');
  expect(first.text).toContain(next);
  const { link = '', code = '' } = linkIn(first.text);
  const browser = newBrowser(fixture.url);
  await browser.press(await browser.open(new URL(link).pathname), 'Confirm the change', { code });
  const second = await received(next, 'Confirm your new address');
  expect(linkIn(second.text).link).toContain(`${fixture.config.baseUrl}/address/`);
});

test('the site’s people receive where a booking was moved', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: timetable() });
  const inDays = (days: number) => new Date(Date.now() + days * 24 * 3600_000).toISOString();
  const body = { kind: 'booking', calendar: 'room', service: 'talk', start: inDays(3) };
  const { id } = (await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body })).body;
  expect((await owner.call('POST', `/v1/bookings/${id}/move`, { body: { start: inDays(4) } })).status).toBe(200);
  const { email } = (await owner.call('GET', '/v1/account')).body;
  expect((await received(email, /moved/i)).text).toContain('A talk');
});

test('the owner receives why access ended, and which DNS record is missing', async () => {
  const { deps } = fixture;
  const to = 'owner-told@example.com';
  await deps.em().transactional(async (em) => {
    queueMail(em, deps, { kind: 'access-ended', to, data: { client: 'Claude', cause: 'refresh_reused' } });
    const data = { domain: 'bakery.example', recordName: '_frontage.bakery.example', value: 'proof-of-bakery' };
    queueMail(em, deps, { kind: 'domain-proof-missing', to, data });
  });
  expect((await received(to, 'We disconnected an app')).text).toContain('used a second time');
  expect((await received(to, 'bakery.example: A DNS record of your domain is missing')).text).toContain(
    'proof-of-bakery',
  );
});

test('the owner receives who was invited by which agent', async () => {
  const caller = await fixture.newCaller();
  const { email } = (await caller.call('GET', '/v1/account')).body;
  const site = await createSite(caller);
  const body = { email: 'friend@example.com' };
  const invited = await caller.call('POST', `/v1/sites/${site.id}/collaborators`, { body });
  const { text } = await received(email, 'A person was invited to edit this website');
  expect(text).toContain('friend@example.com');
  expect(text).toContain(`/account/invitations/${invited.body.id}`);
});

test('the owner receives a link that restores a site, and an account’s code', async () => {
  const { deps } = fixture;
  const caller = await fixture.newCaller();
  const { call } = caller;
  const { email } = (await call('GET', '/v1/account')).body;
  const site = await createSite(caller);
  await call('POST', `/v1/sites/${site.id}/archive`);
  expect((await call('DELETE', `/v1/sites/${site.id}?confirm=true`)).status).toBe(200);
  expect((await received(email, 'Your website will be deleted')).text).toContain(`/sites/${site.id}/restore`);
  await deps.em().transactional(async (em) => {
    queueMail(em, deps, { kind: 'account-deletion', to: email, data: { stage: 'asked', code: 'ABCDEFGH' } });
  });
  expect((await received(email, 'Do you want to delete your account?')).text).toContain('Code: ABCDEFGH');
});

test('the visitor and the site receive an e-mail about a refunded booking', async () => {
  const { account, payUrl, paymentId, owner, statusOf, nudge } = await heldIn(fixture);
  expect((await received('ada@example.org', /: Pay to confirm your booking for /)).text).toContain(payUrl);
  const payee = await fixture.newCaller();
  const em = fixture.deps.em();
  await em.execute('update payout_account set account_id = ? where id = ?', [payee.accountId, account.id]);
  const { page } = await fixture.openLink(payUrl);
  await atRest(fixture, paymentId);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  await blockAccount(em, fixture, payee.accountId, 'It sells what it has not.');
  await fixture.press(page, 'pay', { comesBack: false });
  fixture.stub.knobs.turnAway = 0;
  await nudge();
  await until(statusOf, (status) => status === 'expired');
  expect((await received('ada@example.org', /: Not booked: /)).text).toContain('The payment is being refunded');
  expect((await received(await fixture.emailOf(owner), /: Not booked: /)).text).toContain('€25.00');
});
