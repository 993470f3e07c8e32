/** The code that a mailed link shows, for the browser that asked: who may type it, how often, and until when. */
import { afterAll, expect, test } from 'vitest';
import { SigninLink } from '#db/auth/signin-link.ts';
import { type Browser, formsOf, newBrowser, type Shown } from './browser.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
const second = await fixture.start();
afterAll(() => fixture.close());
const minutes = (n: number) => n * 60_000;
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0';
const codeOn = (page: Shown) => /<p class="code">([0-9]{6})</.exec(page.text)?.[1] ?? '';
const isSignedIn = async (browser: Browser) => (await browser.open('/account')).url === '/account';
const sessionsOf = ({ cookies }: Browser) => [...cookies.keys()].filter((name) => name.includes('session'));
const otherThan = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

/** A sign-in that a browser has asked for, and the page in that browser. */
async function asked(email?: string, browser = fixture.browser()) {
  const address = email ?? (await fixture.newOwner()).email;
  const [form] = formsOf(await browser.open('/signin'));
  const headers = { 'user-agent': firefox, 'sec-fetch-site': 'same-origin' };
  const waiting = await browser.go('POST', '/signin', { ...form?.fields, email: address }, headers);
  return { email: address, browser, waiting, link: await fixture.linkTo(address, 'signin-link') };
}

async function showCode(link: string, phone = fixture.browser()) {
  const page = await phone.press(await phone.open(link), 'Show a code');
  return { phone, page, code: codeOn(page) };
}

/** The same browser, as seen by another process. */
function copyOf(browser: Browser): Browser {
  const copy = newBrowser(second.url);
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  return copy;
}

test('another browser shows a code that signs in the browser that asked', async () => {
  const { email, browser, waiting, link } = await asked();
  const phone = fixture.browser();
  const opened = await phone.open(link);
  for (const words of [email, 'Firefox on Windows', '127.0.0.1']) expect(opened.text).toContain(words);
  const { page, code } = await showCode(link, phone);
  for (const words of [email, 'Firefox on Windows', '127.0.0.1']) expect(page.text).toContain(words);
  expect(code).toMatch(/^[0-9]{6}$/);
  expect(waiting.text).not.toContain(code);
  // Neither the press nor the code signs anybody in.
  expect([await isSignedIn(phone), await isSignedIn(browser)]).toEqual([false, false]);
  const account = await browser.press(waiting, 'Sign in', { code: ` ${code.slice(0, 3)} ${code.slice(3)} ` });
  expect([account.url, account.text.includes(email)]).toEqual(['/account', true]);
  expect(await isSignedIn(phone)).toBe(false);
  expect((await phone.open(link)).status).toBe(410);
});

test('a press signs in the browser that opened the link, and no other', async () => {
  const { browser, waiting, link } = await asked();
  const phone = fixture.browser();
  const account = await phone.press(await phone.open(link), 'Sign in here');
  expect(account.url).toBe('/account');
  expect([await isSignedIn(phone), await isSignedIn(browser)]).toEqual([true, false]);
  expect((await browser.open(waiting.url)).status).toBe(410);
});

test('no program that opens the link or submits its form signs in', async () => {
  const { browser, waiting, link } = await asked();
  for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
    const scanner = fixture.browser();
    await scanner.go(method, link, method === 'POST' ? { answer: 'here' } : undefined);
    expect(sessionsOf(scanner)).toEqual([]);
  }
  const scanner = fixture.browser();
  const page = await scanner.open(link);
  const [form] = formsOf(page);
  for (const filled of [{}, { answer: '' }, { code: 'test' }, { answer: 'approve' }])
    expect((await scanner.go('POST', link, { ...form?.fields, ...filled })).status).toBe(400);
  const [first] = [...(form?.inside ?? '').matchAll(/<button[^>]*value="(\w+)"/g)].map(([, value = '']) => value);
  const shown = await scanner.go('POST', link, { ...form?.fields, answer: first ?? '' });
  expect([codeOn(shown).length, sessionsOf(scanner)]).toEqual([6, []]);
  // It took nothing from the owner: the same code is shown again, and works.
  const { code } = await showCode(link);
  expect(code).toBe(codeOn(shown));
  expect((await browser.press(waiting, 'Sign in', { code })).url).toBe('/account');
});

test('a code works only in the browser that asked', async () => {
  const { browser, waiting, link } = await asked();
  const { phone, code } = await showCode(link);
  const own = await asked();
  for (const thief of [phone, own.browser, fixture.browser()]) {
    expect((await thief.open(waiting.url)).status).toBe(404);
    const [form] = formsOf(await thief.open('/signin'));
    const answer = await thief.go('POST', waiting.url, { ...form?.fields, code });
    expect([answer.status, sessionsOf(thief)]).toEqual([404, []]);
  }
  // Not even with the form of the browser that asked, which its cookie makes valid.
  const forged = await phone.go('POST', waiting.url, { ...formsOf(waiting)[0]?.fields, code });
  expect(forged.status).toBe(400);
  const elsewhere = await browser.go(
    'POST',
    waiting.url,
    { ...formsOf(waiting)[0]?.fields, code },
    { 'sec-fetch-site': 'cross-site' },
  );
  expect([elsewhere.status, sessionsOf(browser)]).toEqual([400, []]);
  for (const id of ['x', '%00', 'link_01h455vb4pex5vsknk084sn02q'])
    expect((await browser.open(`/signin/code/${id}`)).status).toBe(404);
  expect((await browser.press(waiting, 'Sign in', { code })).url).toBe('/account');
});

test('five wrong codes end a sign-in, on every process at once', async () => {
  const { browser, waiting, link, email } = await asked();
  const { phone, code } = await showCode(link);
  const loose = await browser.press(waiting, 'Sign in', { code: 'not a code' });
  expect([loose.status, loose.text]).toEqual([400, expect.stringContaining('you have 5 attempts left')]);
  const wrong = otherThan(code);
  const guesses = Array.from({ length: 20 }, (_, n) =>
    (n % 2 ? browser : copyOf(browser)).press(waiting, 'Sign in', { code: wrong }),
  );
  const statuses = (await Promise.all(guesses)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 400)).toHaveLength(4);
  expect((await fixture.deps.em().findOneOrFail(SigninLink, { email })).wrongCodes).toBe(5);
  expect((await browser.press(waiting, 'Sign in', { code })).status).toBe(410);
  expect((await phone.open(link)).status).toBe(410);
  expect(sessionsOf(browser)).toEqual([]);
});

test('a code is right for its own sign-in alone', async () => {
  const browser = fixture.browser();
  const { email } = await fixture.newOwner();
  const signins = [];
  for (let n = 0; n < 3; n++) signins.push(await asked(email, browser));
  // Before a page has shown a code, none is right, whatever the first one is.
  const codes = [];
  for (const { link } of signins.slice(0, 2)) codes.push((await showCode(link)).code);
  const [first, , third] = signins;
  for (const code of codes)
    expect((await browser.press(third?.waiting as Shown, 'Sign in', { code })).status).toBe(400);
  const wrong = await browser.press(first?.waiting as Shown, 'Sign in', { code: codes[1] ?? '' });
  expect([wrong.status, sessionsOf(browser)]).toEqual([400, []]);
  const links = await fixture.deps.em().find(SigninLink, { email }, { orderBy: { id: 'asc' } });
  expect(links.map(({ wrongCodes }) => wrongCodes)).toEqual([1, 0, 2]);
  expect((await browser.press(first?.waiting as Shown, 'Sign in', { code: codes[0] ?? '' })).url).toBe('/account');
});

test('right codes and presses at the same time sign in once', async () => {
  const { browser, waiting, link } = await asked();
  const { phone, code } = await showCode(link);
  const opened = await phone.open(link);
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, (_, n) => (n % 2 ? browser : copyOf(browser)).press(waiting, 'Sign in', { code })),
    ...Array.from({ length: 10 }, () => phone.press(opened, 'Sign in here')),
  ]);
  expect(answers.filter(({ url }) => url === '/account')).toHaveLength(1);
  expect((await browser.press(waiting, 'Sign in', { code })).status).toBe(410);
});

test('a code works for ten minutes, also after its link has expired', async () => {
  const early = await asked();
  const { phone, code } = await showCode(early.link);
  fixture.skip(minutes(10) + 1);
  const late = await early.browser.press(early.waiting, 'Sign in', { code });
  expect([late.status, late.text]).toEqual([400, expect.stringContaining('This code has expired')]);
  const again = await showCode(early.link, phone);
  expect(again.code).not.toBe(code);
  expect((await early.browser.press(early.waiting, 'Sign in', { code })).text).toContain('you have 4 attempts left');
  fixture.skip(minutes(6));
  expect((await phone.open(early.link)).status).toBe(410);
  const { url } = await early.browser.press(early.waiting, 'Sign in', { code: again.code });
  expect(url).toBe('/account');
  const other = await asked();
  const shown = await showCode(other.link);
  fixture.skip(minutes(16));
  expect((await other.browser.press(other.waiting, 'Sign in', { code: shown.code })).status).toBe(410);
});

test('the browser that asked can open its page again', async () => {
  const { browser, waiting, link } = await asked();
  const { code } = await showCode(link);
  const again = await browser.open(waiting.url);
  expect((await browser.press(again, 'Sign in', { code })).url).toBe('/account');
});

test('the mail names the browser and the address that asked', async () => {
  const { email } = await asked();
  const [letter] = await fixture.lettersTo(email);
  expect(letter?.text).toContain('Browser: Firefox on Windows\nNetwork address: 127.0.0.1');
  expect(letter?.text).not.toMatch(/\b[0-9]{6}\b/);
});
