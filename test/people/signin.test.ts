import { afterAll, expect, test } from 'vitest';
import { newBrowser, type Shown } from './browser.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
const second = await fixture.start();
afterAll(() => fixture.close());
const minutes = (n: number) => n * 60_000;

/** Asks for a link in this browser. */
async function askIn(browser: ReturnType<typeof newBrowser>, email: string): Promise<Shown> {
  return browser.press(await browser.open('/signin'), 'Send me a link', { email });
}

async function linkFor(email: string, browser = fixture.browser()) {
  const sent = await askIn(browser, email);
  return { browser, sent, link: await fixture.linkTo(email, 'signin-link') };
}

test('a mailed link and one button sign a browser in, on every process', async () => {
  const { email } = await fixture.newOwner();
  const { browser, sent, link } = await linkFor(email);
  expect(sent.text).toContain('Check your e-mail');
  const page = await browser.open(link);
  expect(page.text).toContain(email);
  expect(page.text).not.toContain('name="code"');
  const account = await browser.press(page, 'Sign in');
  expect([account.url, account.status]).toEqual(['/account', 200]);
  const other = newBrowser(second.url);
  for (const [name, value] of browser.cookies) other.cookies.set(name, value);
  expect((await other.open('/account')).text).toContain(email);
});

test('the session cookie is for this host alone, and hidden from scripts', async () => {
  const { email } = await fixture.newOwner();
  const { browser, link } = await linkFor(email);
  const page = await browser.open(link);
  const fields = { form: /name="form" value="([^"]+)"/.exec(page.text)?.[1] ?? '', answer: 'here' };
  const answer = await fetch(`${fixture.url}${link}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
    headers: { cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; '), 'sec-fetch-site': 'same-origin' },
  });
  const [cookie = ''] = answer.headers.getSetCookie();
  expect(cookie).toMatch(
    /^__Host-frontage_session=frs_[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
  );
  expect(cookie).not.toContain('Domain');
});

test('a session that was planted before signing in gives nobody access', async () => {
  const [thief, owner] = [await fixture.newOwner(), await fixture.newOwner()];
  const theirs = fixture.browser();
  await fixture.signIn(theirs, thief.email);
  const name = '__Host-frontage_session';
  for (const planted of [theirs.cookies.get(name) ?? '', `frs_${'A'.repeat(43)}`]) {
    const browser = fixture.browser();
    for (const [cookie, value] of theirs.cookies) browser.cookies.set(cookie, value);
    browser.cookies.set(name, planted);
    expect((await fixture.signIn(browser, owner.email)).text).toContain(owner.email);
    expect(browser.cookies.get(name)).not.toBe(planted);
    const holder = fixture.browser();
    for (const [cookie, value] of theirs.cookies) holder.cookies.set(cookie, value);
    holder.cookies.set(name, planted);
    expect((await holder.open('/account')).text).not.toContain(owner.email);
  }
});

test('a link expires after 15 minutes, and a session after 14 days', async () => {
  const { email } = await fixture.newOwner();
  const { browser, link } = await linkFor(email);
  await browser.press(await browser.open(link), 'Sign in');
  const late = await linkFor(email);
  const page = await late.browser.open(late.link);
  fixture.skip(minutes(15) + 1);
  expect((await late.browser.press(page, 'Sign in')).status).toBe(410);
  fixture.skip(14 * 24 * minutes(60) - minutes(16));
  expect((await browser.open('/account')).url).toBe('/account');
  fixture.skip(minutes(2));
  expect((await browser.open('/account')).url).toBe('/signin');
});

test('a link signs in once, also under concurrent clicks', async () => {
  const { email } = await fixture.newOwner();
  const { browser, link } = await linkFor(email);
  const page = await browser.open(link);
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => {
      const same = newBrowser(fixture.url);
      for (const [name, value] of browser.cookies) same.cookies.set(name, value);
      return same.press(page, 'Sign in');
    }),
  );
  expect(answers.filter(({ url }) => url === '/account')).toHaveLength(1);
  expect((await browser.open(link)).status).toBe(410);
});

test('signing out ends the session for copied cookies too', async () => {
  const { email } = await fixture.newOwner();
  const { browser, link } = await linkFor(email);
  const account = await browser.press(await browser.open(link), 'Sign in');
  const copy = newBrowser(second.url);
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  expect((await browser.press(account, 'Sign out')).url).toBe('/signin');
  expect((await copy.open('/account')).url).toBe('/signin');
});

test('known and unknown addresses see the same page', async () => {
  const known = (await fixture.newOwner()).email;
  const unknown = fixture.newAddress();
  const pages = await Promise.all([known, unknown].map((email) => askIn(fixture.browser(), email)));
  const [one, other] = pages.map((page, n) =>
    page.text.replaceAll(n === 0 ? known : unknown, 'ADDRESS').replace(/value="[\w-]{43}"/g, 'FORM'),
  );
  expect(one).toBe(other);
  expect(pages.map(({ status }) => status)).toEqual([200, 200]);
  const [letter] = await fixture.lettersTo(unknown);
  expect([letter?.subject, letter?.link]).toEqual(['There is no account for this address', '']);
});

test('with open sign-up, the button creates the account', async () => {
  const open = await createPeopleFixture({ FRONTAGE_SIGNUP: 'open' });
  try {
    const browser = open.browser();
    await browser.press(await browser.open('/signin'), 'Send me a link', { email: 'florist@example.com' });
    expect(await open.deps.em().execute('select id from account')).toHaveLength(0);
    const page = await browser.open(await open.linkTo('florist@example.com', 'signin-link'));
    expect((await browser.press(page, 'Sign in')).text).toContain('florist@example.com');
  } finally {
    await open.close();
  }
});

test.each(['', 'owner', 'Owner <owner@example.com>', 'a@example.com, b@example.com', '"><script>@example.com'])(
  'the address %j is requested again',
  async (email) => {
    const page = await askIn(fixture.browser(), email);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('Enter a complete e-mail address')]);
    expect(page.text).not.toContain('<script>');
  },
);

test('an address is mailed five links in an hour at most', async () => {
  const strict = await createPeopleFixture({ FRONTAGE_RATE_SCALE: '1' });
  try {
    const browser = strict.browser();
    const form = await browser.open('/signin');
    const press = () => browser.press(form, 'Send me a link', { email: 'a@example.com' });
    const answers = await Promise.all(Array.from({ length: 8 }, press));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    const refused = answers.find(({ status }) => status !== 200);
    expect([refused?.status, refused?.text]).toEqual([429, expect.stringContaining('Too many requests')]);
    expect(await strict.lettersTo('a@example.com')).toHaveLength(5);
  } finally {
    await strict.close();
  }
});

test('a malformed form gets an error page', async () => {
  for (const [type, body] of [
    ['application/json', '{}'],
    ['text/plain', 'email=a@example.com'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['application/x-www-form-urlencoded', `email=${'a'.repeat(20_000)}`],
    ['application/x-www-form-urlencoded', 'email=a%00@example.com&email=b&form=%ED%A0%80&__proto__=1'],
  ] as const) {
    const answer = await fetch(`${fixture.url}/signin`, { method: 'POST', body, headers: { 'content-type': type } });
    expect([type, answer.status >= 400 && answer.status < 500]).toEqual([type, true]);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  }
});
