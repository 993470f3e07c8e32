/** Sign-in for a blocked account. */
import { afterAll, expect, test } from 'vitest';
import { Account } from '#db/accounts/account.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { errorOf } from '#test/api/fixture.ts';
import { createOauthFixture, pkce } from '#test/oauth/fixture.ts';

const fixture = await createOauthFixture({ FRONTAGE_SIGNUP: 'open' });
afterAll(() => fixture.close());

const reason = 'Its sites ask visitors for <b>passwords</b> of a bank.';
const block = ({ accountId }: { accountId: string }) => blockAccount(fixture.deps.em(), fixture, accountId, reason);
const unblock = ({ accountId }: { accountId: string }) => unblockAccount(fixture.deps.em(), fixture, accountId);
const kindsTo = async (email: string) => (await fixture.lettersTo(email)).map(({ kind }) => kind);

test('a blocked owner sees the reason on every page, and may sign out', async () => {
  const owner = await fixture.newSignedIn();
  const wish = fixture.question((await fixture.register()).body.client_id, pkce().challenge);
  await block(owner);
  for (const path of ['/account', wish]) {
    const shown = await owner.browser.open(path);
    expect([path, shown.status]).toEqual([path, 403]);
    expect(shown.text).toContain('Your account is blocked');
    expect(shown.text).toContain('&#60;b&#62;passwords');
  }
  await unblock(owner);
  const account = await owner.browser.open('/account');
  expect(account.status).toBe(200);
  await block(owner);
  expect((await owner.browser.press(account, 'Sign out')).url).toBe('/signin');
});

test('a blocked person’s sign-in looks the same, and the mail has the reason', async () => {
  const owner = await fixture.newOwner();
  await block(owner);
  const browser = fixture.browser();
  const sent = await browser.press(await browser.open('/signin'), 'Send me a link', { email: owner.email });
  expect([sent.status, sent.text.includes('Check your e-mail'), sent.text.includes('blocked')]).toEqual([
    200,
    true,
    false,
  ]);
  const asked = await fixture.ask(owner.email);
  expect([asked.status, asked.body.status]).toEqual([200, 'pending']);
  expect(asked.text).not.toContain('blocked');
  expect(await kindsTo(owner.email)).toEqual(['account-blocked', 'account-blocked', 'account-blocked']);
  const [letter] = await fixture.lettersTo(owner.email);
  expect(letter?.text).toContain('passwords');
  expect(letter?.link).toBe('');
  expect(await fixture.deps.em().count(Account, { email: owner.email })).toBe(1);
  // And what the agent holds stays a question.
  expect((await fixture.redeem(asked.body)).body.status).toBe('pending');
});

test('links sent before a block do nothing', async () => {
  const owner = await fixture.newOwner();
  const browser = fixture.browser();
  await browser.press(await browser.open('/signin'), 'Send me a link', { email: owner.email });
  const link = await fixture.linkTo(owner.email, 'signin-link');
  const asked = (await fixture.ask(owner.email)).body;
  const access = await fixture.linkTo(owner.email, 'access-request');
  await block(owner);
  const told = await browser.press(await browser.open(link), 'Sign in');
  expect([told.status, told.text.includes('passwords')]).toEqual([403, true]);
  expect([...browser.cookies.keys()].filter((name) => name.includes('session'))).toEqual([]);
  const page = await browser.open(access);
  const approve = () => browser.press(page, 'Give access', { code: asked.user_code });
  expect((await approve()).status).toBe(403);
  await unblock(owner);
  // Nothing was used up.
  expect((await approve()).status).toBe(200);
  await block(owner);
  expect(errorOf(await fixture.redeem(asked))).toMatchObject({ code: 'access_denied', retryable: false });
  await unblock(owner);
  expect((await fixture.redeem(asked)).body.status).toBe('approved');
  expect((await browser.press(await browser.open(link), 'Sign in')).status).toBe(200);
});

test('a pending address change is not confirmed during a block', async () => {
  const owner = await fixture.newSignedIn();
  const other = fixture.newAddress();
  const asked = (await fixture.ask(owner.email)).body;
  const page = await owner.browser.open('/account');
  await owner.browser.press(page, 'Give access', { code: asked.user_code, account: 'yes' });
  const { access_token } = (await fixture.redeem(asked)).body;
  const call = (body: object) =>
    fetch(`${fixture.url}/v1/account`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await call({ email: other })).status).toBe(200);
  const confirmOld = async () => (await fixture.answerMail(owner.email, 'address-change', 'Confirm the change')).status;
  const confirm = async () => (await fixture.answerMail(other, 'address-confirmation', 'Use this address')).status;
  await block(owner);
  expect(await confirmOld()).toBe(403);
  await unblock(owner);
  expect(await confirmOld()).toBe(200);
  await block(owner);
  expect(await confirm()).toBe(403);
  await unblock(owner);
  expect(await confirm()).toBe(200);
});

test('an OAuth client gets and renews no token during a block, and continues afterwards', async () => {
  const owner = await fixture.newSignedIn();
  const [first, second] = [await fixture.approve(owner.browser), await fixture.approve(owner.browser)];
  const { body: tokens } = await fixture.exchange(first);
  await block(owner);
  for (const refused of [await fixture.exchange(second), await fixture.renew(first.clientId, tokens.refresh_token)]) {
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(refused.body.error_description).toContain('blocked');
  }
  await unblock(owner);
  expect((await fixture.renew(first.clientId, tokens.refresh_token)).status).toBe(200);
  expect((await fixture.exchange(second)).status).toBe(200);
});
