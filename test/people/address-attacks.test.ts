/** A thief has a token with every scope, and wants the account. Each journey ends with the owner in control. */
import { afterAll, expect, test } from 'vitest';
import { setAddress } from '#api/accounts/address.ts';
import { everything } from '#rules/scopes.ts';
import { callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { createOauthFixture } from '#test/oauth/fixture.ts';

const fixture = await createOauthFixture({ FRONTAGE_SIGNUP: 'open' });
afterAll(() => fixture.close());
const day = 24 * 3600_000;

const askOld = (old: string, button: string, code?: string) => fixture.answerMail(old, 'address-change', button, code);
const change = (call: Thief['call'], email: string) => call('PATCH', '/v1/account', { body: { email } });

/** An owner, the thief who has their token, and the thief's mailbox. */
async function newTheft() {
  const owner = await fixture.newSignedIn();
  const issued = await fixture.ask(owner.email);
  const page = await owner.browser.open('/account');
  const ticked = { code: issued.body.user_code, payouts: 'yes', account: 'yes' };
  await owner.browser.press(page, 'Give access', ticked);
  const { access_token: token } = (await fixture.redeem(issued.body)).body;
  const call = callWith(fixture.url, token);
  return { ...owner, call, token, mailbox: fixture.newAddress() };
}
type Thief = Awaited<ReturnType<typeof newTheft>>;

/** The thief asks, and the owner is talked into confirming. */
async function takeOver({ call, email, mailbox }: Thief) {
  expect((await change(call, mailbox)).status).toBe(200);
  expect((await fixture.confirmChange(email, mailbox)).text).toContain('Your e-mail address has changed');
}

/** The owner signs in with their own mailbox, ends the access of each agent, and the thief is out. */
async function expectControl({ email, accountId, call }: Pick<Thief, 'email' | 'accountId' | 'call'>) {
  const browser = fixture.browser();
  let page = await fixture.signIn(browser, email);
  expect(page).toMatchObject({ url: '/account', text: expect.stringContaining(email) });
  page = await browser.open('/account/agents');
  for (;;) {
    const [path] = /\/account\/agents\/tok_\w+\/revoke/.exec(page.text) ?? [];
    if (!path) break;
    page = await browser.press(await browser.open(path), 'Revoke its access');
  }
  expect(await countOf('account where id = ? and email = ?', [accountId, email])).toBe(1);
  expect((await call('GET', '/v1/account')).status).toBe(401);
}

async function countOf(from: string, values: string[]): Promise<number> {
  const [row] = await fixture.deps.em().execute<[{ n: number }]>(`select count(*)::int as n from ${from}`, values);
  return row.n;
}

test('1: the thief asks for another address, and the owner does nothing', async () => {
  const theft = await newTheft();
  await change(theft.call, theft.mailbox);
  fixture.skip(day);
  expect((await askOld(theft.email, 'Confirm the change')).status).toBe(410);
  expect((await theft.call('GET', '/v1/account')).body).toMatchObject({ email: theft.email, pending: null });
  await expectControl(theft);
});

test('2: the thief waits at the new mailbox, which gets no mail', async () => {
  const theft = await newTheft();
  for (const mailbox of [theft.mailbox, fixture.newAddress(), theft.mailbox]) await change(theft.call, mailbox);
  expect(await fixture.lettersTo(theft.mailbox)).toEqual([]);
  // What a thief can read: no response contains a link or a code.
  const { link, code } = (await fixture.lettersTo(theft.email))[0] ?? { link: '', code: '' };
  const answers = [await change(theft.call, theft.mailbox), await theft.call('GET', '/v1/account')];
  expect(JSON.stringify(answers)).not.toMatch(new RegExp(`${link}|${code}|/address/`));
  await expectControl(theft);
});

test('3: the thief has the link of the old mailbox and guesses its code', async () => {
  const theft = await newTheft();
  await change(theft.call, theft.mailbox);
  const guesses = ['BCDFGHJK', 'BCDFGHJL', 'BCDFGHJM', 'BCDFGHJN', 'BCDFGHJP'];
  const statuses = [];
  for (const guess of guesses) statuses.push((await askOld(theft.email, 'Confirm the change', guess)).status);
  expect(statuses).toEqual([400, 400, 400, 400, 410]);
  expect((await askOld(theft.email, 'Confirm the change')).status).toBe(410);
  expect(await fixture.lettersTo(theft.mailbox)).toEqual([]);
  await expectControl(theft);
});

test('4: the owner stops the change on the page of the e-mail', async () => {
  const theft = await newTheft();
  await change(theft.call, theft.mailbox);
  expect((await askOld(theft.email, 'Stop the change')).text).toContain('The change is stopped');
  expect((await askOld(theft.email, 'Confirm the change')).status).toBe(410);
  await expectControl(theft);
});

test('5: the owner was talked into confirming, and stops the change after that', async () => {
  const theft = await newTheft();
  await change(theft.call, theft.mailbox);
  await askOld(theft.email, 'Confirm the change');
  expect((await askOld(theft.email, 'Stop the change')).text).toContain('The change is stopped');
  const late = await fixture.answerMail(theft.mailbox, 'address-confirmation', 'Use this address');
  expect(late.status).toBe(410);
  await expectControl(theft);
});

test('6: the thief gets the account, and the undone change ends all its access', async () => {
  const theft = await newTheft();
  const site = await createSite(theft);
  await takeOver(theft);
  const browser = fixture.browser();
  await fixture.signIn(browser, theft.mailbox);
  const own = (await theft.call('POST', '/v1/tokens', { body: { name: 'Mine' } })).body;
  const held = await fixture.approve(browser);
  const app = (await fixture.exchange(held)).body;
  const made = async (path: string, body: object) =>
    (await theft.call('POST', `/v1/sites/${site.id}/${path}`, { body })).status;
  expect(await made('git-credentials', { repository: 'source', access: 'write' })).toBe(200);
  expect(await made('uploads', {})).toBe(200);
  expect(await made('review-links', {})).toBe(200);
  expect(await made('calendar-feeds', {})).toBe(200);
  expect((await askOld(theft.email, 'Undo the change')).text).toContain('The change is undone');
  for (const secret of [own.access_token, app.access_token, theft.token])
    expect((await callWith(fixture.url, secret)('GET', '/v1/account')).status).toBe(401);
  expect((await fixture.renew(held.clientId, app.refresh_token)).status).toBe(400);
  expect((await browser.open('/account')).url).toBe('/signin');
  const left = ['git_credential where account_id = ?', 'upload_link where account_id = ? and ended_at is null'];
  left.push(
    'review_link where account_id = ? and ended_at is null',
    'calendar_feed where account_id = ? and ended_at is null',
    'token where account_id = ? and revoked_at is null',
  );
  for (const from of left) expect([from, await countOf(from, [theft.accountId])]).toEqual([from, 0]);
  expect((await fixture.lettersTo(theft.mailbox))[0]?.text).toMatch(new RegExp(`undone[^]*Address: ${theft.email}`));
  expect((await askOld(theft.email, 'Undo the change')).status).toBe(410);
  await expectControl(theft);
});

test('7: the thief moves the account on, or opens another at the old address', async () => {
  const theft = await newTheft();
  await takeOver(theft);
  const browser = fixture.browser();
  await fixture.signIn(browser, theft.mailbox);
  for (const to of [fixture.newAddress(), theft.email]) {
    expect(errorOf(await change(theft.call, to))).toMatchObject({ code: 'address_change_pending', retryable: false });
    const shown = await browser.press(await browser.open('/account/settings'), 'Change my address', { email: to });
    expect([shown.status, shown.text.includes('the old address can undo that until')]).toEqual([409, true]);
  }
  const other = await newTheft();
  expect(errorOf(await change(other.call, theft.email)).code).toBe('email_taken');
  await browser.press(await browser.open('/signin'), 'Send me a link', { email: theft.email });
  expect((await fixture.lettersTo(theft.email))[0]).toMatchObject({ kind: 'signin-link', link: '' });
  const request = (await fixture.ask(theft.email)).body;
  const page = await browser.open(await fixture.linkTo(theft.email, 'access-request'));
  await browser.press(page, 'Give access', { code: request.user_code });
  expect(errorOf(await fixture.redeem(request)).code).toBe('signin_unavailable');
  await expect(setAddress(fixture.deps.em(), fixture.deps, other.accountId, theft.email)).rejects.toThrow('Another');
  fixture.skip(3 * day - 3600_000);
  expect((await askOld(theft.email, 'Undo the change')).status).toBe(200);
  await expectControl(theft);
});

test('8: the thief wants the power over payouts for tokens that remain', async () => {
  const theft = await newTheft();
  await takeOver(theft);
  const browser = fixture.browser();
  await fixture.signIn(browser, theft.mailbox);
  const create = () => theft.call('POST', '/v1/tokens', { body: { name: 'Money', scope: everything } });
  expect([(await create()).status, errorOf(await create()).code]).toEqual([409, 'address_change_pending']);
  const request = (await fixture.ask(theft.mailbox)).body;
  const ticked = { code: request.user_code, payouts: 'yes' };
  const refused = await browser.press(await browser.open('/account'), 'Give access', ticked);
  expect(refused).toMatchObject({ status: 409, text: expect.stringContaining('Your e-mail address changed recently') });
  expect((await fixture.approve(browser, {}, {}, { payouts: 'yes' })).code).toBe('');
  const scope = { ...everything, payouts: false };
  const { body: plain } = await theft.call('POST', '/v1/tokens', { body: { name: 'Plain', scope } });
  const more = { body: { name: 'More', scope: everything } };
  const limited = errorOf(await callWith(fixture.url, plain.access_token)('POST', '/v1/tokens', more));
  const widen = new URL(/https?:\/\/\S+$/.exec(limited.next_action ?? '')?.[0] ?? 'none:');
  for (const button of ['Allow once', 'Allow always']) {
    const shown = await browser.open(`${widen.pathname}${widen.search}`);
    expect((await browser.press(shown, button)).status).toBe(409);
  }
  expect((await askOld(theft.email, 'Undo the change')).status).toBe(200);
  await expectControl(theft);
});

test('9: the thief replaces a change that the owner has asked for', async () => {
  const theft = await newTheft();
  const wanted = fixture.newAddress();
  await theft.browser.press(await theft.browser.open('/account/settings'), 'Change my address', { email: wanted });
  const [own] = await fixture.lettersTo(theft.email);
  await change(theft.call, theft.mailbox);
  expect((await theft.browser.open(own?.link ?? '')).status).toBe(410);
  const [second] = await fixture.lettersTo(theft.email);
  expect((await theft.browser.open(second?.link ?? '')).text).toMatch(new RegExp(`${theft.mailbox}[^]*named “Claude”`));
  expect((await askOld(theft.email, 'Confirm the change', own?.code)).status).toBe(400);
  expect((await askOld(theft.email, 'Stop the change')).status).toBe(200);
  await expectControl(theft);
});

test('10: the thief prepares access that would begin after the change is undone', async () => {
  const theft = await newTheft();
  await takeOver(theft);
  const browser = fixture.browser();
  await fixture.signIn(browser, theft.mailbox);
  const approved = async () => {
    const request = (await fixture.ask(theft.mailbox)).body;
    await browser.press(await browser.open('/account'), 'Give access', { code: request.user_code });
    return request;
  };
  const link = async () => {
    await browser.press(await browser.open('/signin'), 'Send me a link', { email: theft.mailbox });
    return browser.open(await fixture.linkTo(theft.mailbox, 'signin-link'));
  };
  const [early, late] = [await approved(), await approved()];
  const codes = [await fixture.approve(browser), await fixture.approve(browser)] as const;
  const [signin, spare] = [await link(), await link()];
  const [undone] = await Promise.all([
    askOld(theft.email, 'Undo the change'),
    fixture.redeem(early),
    fixture.exchange(codes[0]),
    browser.press(signin, 'Sign in'),
    ...Array.from({ length: 5 }, () => theft.call('POST', '/v1/tokens', { body: { name: 'Race' } })),
  ]);
  expect(undone.text).toContain('The change is undone');
  expect(errorOf(await fixture.redeem(late)).code).toBe('expired');
  expect((await fixture.exchange(codes[1])).status).toBe(400);
  expect((await browser.press(spare, 'Sign in')).status).toBe(410);
  for (const from of ['token where account_id = ? and revoked_at is null', 'browser_session where account_id = ?'])
    expect([from, await countOf(from, [theft.accountId])]).toEqual([from, 0]);
  await expectControl(theft);
});

test('12: the thief redeems after the undo what was approved before the change', async () => {
  const theft = await newTheft();
  const request = (await fixture.ask(theft.email)).body;
  await theft.browser.press(await theft.browser.open('/account'), 'Give access', { code: request.user_code });
  await takeOver(theft);
  expect((await askOld(theft.email, 'Undo the change')).status).toBe(200);
  expect(errorOf(await fixture.redeem(request)).code).toBe('expired');
  await expectControl(theft);
});

test('11: the thief also reads the old mailbox, and the operator moves the account', async () => {
  const theft = await newTheft();
  await takeOver(theft);
  const safe = fixture.newAddress();
  await setAddress(fixture.deps.em(), fixture.deps, theft.accountId, safe);
  expect((await askOld(theft.email, 'Undo the change')).status).toBe(410);
  await expectControl({ ...theft, email: safe });
});
