/** Strangers who ask for access to, and sign-in links for, somebody else's address. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setAddress } from '#api/accounts/address.ts';
import { type Call, callWith, errorOf } from '#test/api/fixture.ts';
import { formsOf } from './browser.ts';
import { createPeopleFixture, type PeopleFixture } from './fixture.ts';

let fixture: PeopleFixture;
let second: { url: string };
beforeAll(async () => {
  fixture = await createPeopleFixture({ FRONTAGE_RATE_SCALE: '1', FRONTAGE_TRUSTED_PROXIES: '127.0.0.1' });
  second = await fixture.start();
});
afterAll(() => fixture?.close());

const from = (ip: string) => ({ 'x-forwarded-for': ip });
const askFrom = (ip: string, email: string, call: Call = fixture.anyone) =>
  call('POST', '/v1/auth/requests', { body: { email, agent_name: 'Claude' }, headers: from(ip) });
const poll = async ({ id, secret }: { id: string; secret: string }, ip: string) => {
  const answer = await fixture.anyone('POST', `/v1/auth/requests/${id}/redeem`, {
    body: { secret },
    headers: from(ip),
  });
  return answer.status === 200 ? answer.body.status : errorOf(answer);
};

test('a stranger’s request does not end the owner’s, and each code approves its own', async () => {
  const { email } = await fixture.newOwner();
  const mine = await askFrom('192.0.2.1', email);
  const link = await fixture.linkTo(email, 'access-request');
  const theirs = await askFrom('192.0.2.2', email);
  const browser = fixture.browser();
  const wrong = await browser.press(await browser.open(link), 'Give access', { code: theirs.body.user_code });
  expect(wrong.text).toContain('That code is not correct');
  await browser.press(wrong, 'Give access', { code: mine.body.user_code });
  expect([await poll(mine.body, '192.0.2.1'), await poll(theirs.body, '192.0.2.2')]).toEqual(['approved', 'pending']);
});

test('five requests an hour from one network leave another network’s owner free', async () => {
  const { email } = await fixture.newOwner();
  const calls = [fixture.anyone, callWith(second.url)];
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => askFrom('198.51.100.7', email, calls[n % 2])));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(new Set(refused.map((one) => errorOf(one).code))).toEqual(new Set(['rate_limited']));
  const seconds = Number(refused[0]?.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(3500);
  expect((await askFrom('192.0.2.3', email)).status).toBe(200);
  expect((await askFrom('198.51.100.7', fixture.newAddress())).status).toBe(200);
  fixture.skip(seconds * 1000);
  expect((await askFrom('198.51.100.7', email)).status).toBe(200);
});

test('addresses of one IPv6 network count together', async () => {
  const { email } = await fixture.newOwner();
  for (let n = 1; n <= 5; n++) expect((await askFrom(`2001:db8:1:2::${n}`, email)).status).toBe(200);
  expect((await askFrom('2001:db8:1:2:ffff::1', email)).status).toBe(429);
  expect((await askFrom('2001:db8:1:3::1', email)).status).toBe(200);
});

test('after 20 e-mails in an hour, requests are listed on the owner’s page alone', async () => {
  const { email } = await fixture.newOwner();
  const browser = fixture.browser();
  await fixture.signIn(browser, email);
  const mails = async () => (await fixture.lettersTo(email)).filter(({ kind }) => kind === 'access-request').length;
  for (let n = 0; n < 20; n++) expect((await askFrom(`203.0.113.${n}`, email)).status).toBe(200);
  expect(await mails()).toBe(20);
  const more = await askFrom('192.0.2.4', email);
  expect([more.status, await mails()]).toEqual([200, 20]);
  expect(more.body.next_action).toContain(`sign in at ${fixture.config.baseUrl}/account`);
  const page = await browser.open('/account');
  expect(page.text.split('is requesting access')).toHaveLength(22);
  expect(page.text).toContain('192.0.2.4');
  // The newest request is the first on the page.
  await browser.press(page, 'Give access', { code: more.body.user_code });
  expect(await poll(more.body, '192.0.2.4')).toBe('approved');
});

test('five sign-in links from one network leave another network free, up to 20', async () => {
  const { email } = await fixture.newOwner();
  const press = async (ip: string) => {
    const browser = fixture.browser();
    const [form] = formsOf(await browser.open('/signin'));
    const headers = { 'sec-fetch-site': 'same-origin', ...from(ip) };
    return (await browser.go('POST', '/signin', { ...form?.fields, email }, headers)).status;
  };
  const first = await Promise.all(Array.from({ length: 8 }, () => press('198.51.100.8')));
  expect(first.filter((status) => status === 200)).toHaveLength(5);
  const others = [];
  for (let n = 0; n < 16; n++) others.push(await press(`203.0.113.${n}`));
  expect(others).toEqual([...Array(15).fill(200), 429]);
});

test('an ended request says why, to the agent and to the owner', async () => {
  const owner = await fixture.newOwner();
  const ended = async (work: (asked: { user_code: string }, link: string) => Promise<unknown>) => {
    const { body } = await askFrom('192.0.2.5', owner.email);
    const link = await fixture.linkTo(owner.email, 'access-request');
    await work(body, link);
    const error = await poll(body, '192.0.2.5');
    const shown = await fixture.browser().open(link);
    return [error.code, error.message, shown.text];
  };
  const approve = async (link: string, code: string) => {
    const browser = fixture.browser();
    return browser.press(await browser.open(link), 'Give access', { code });
  };
  const contains = (text: string) => expect.stringContaining(text);
  expect(await ended(async () => fixture.skip(15 * 60_000))).toEqual([
    'expired',
    contains('did not answer'),
    contains('A request expires after 15 minutes'),
  ]);
  expect(
    await ended(async ({ user_code }, link) => {
      await approve(link, user_code);
      fixture.skip(15 * 60_000);
    }),
  ).toEqual(['expired', contains('was not redeemed'), contains('You approved it')]);
  expect(
    await ended(async (_asked, link) => {
      for (let n = 0; n < 5; n++) await approve(link, 'BBBBBBBB');
    }),
  ).toEqual(['expired', contains('wrong code was entered five times'), contains('Too many wrong codes')]);
  const moved = await ended(() => setAddress(fixture.deps.em(), fixture.deps, owner.accountId, fixture.newAddress()));
  expect(moved).toEqual([
    'expired',
    contains('changed their e-mail address'),
    contains('address of your account has changed'),
  ]);
});
