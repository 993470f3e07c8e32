import { afterAll, expect, test } from 'vitest';
import { AccessRequest } from '#db/auth/access-request.ts';
import { errorOf } from '#test/api/fixture.ts';
import { formsOf, newBrowser } from './browser.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
const second = await fixture.start();
afterAll(() => fixture.close());

async function asked(more: Record<string, unknown> = {}) {
  const { email, accountId } = await fixture.newOwner();
  const { body } = await fixture.ask(email, more);
  return { ...body, email, accountId, link: await fixture.linkTo(email, 'access-request') };
}
const statusOf = async (id: string) => (await fixture.deps.em().findOneOrFail(AccessRequest, id)).status;
const sameOrigin = { 'sec-fetch-site': 'same-origin', origin: fixture.config.baseUrl };

test('neither mail nor page contains the code, and both name the requester', async () => {
  const { email, link, user_code } = await asked({ agent_name: 'Tinker & <Sons>' });
  const [letter] = await fixture.lettersTo(email);
  const page = await fixture.browser().open(link);
  for (const text of [letter?.text, letter?.html, letter?.subject, page.text]) {
    expect(text?.toUpperCase()).not.toContain(user_code);
  }
  expect(letter?.text).toContain('Agent: Tinker & <Sons>');
  expect(page.text).toContain('Tinker &#38; &#60;Sons&#62;');
  for (const text of [letter?.text, page.text]) expect(text).toContain('127.0.0.1');
});

test('a scanner without cookies cannot answer a request', async () => {
  const { id, link, user_code } = await asked();
  const page = await fixture.browser().open(link);
  const fields = formsOf(page)[0]?.fields ?? {};
  const bodies = [{}, { answer: 'approve', code: user_code }, { answer: 'deny' }, { ...fields, answer: 'deny' }];
  for (const method of ['HEAD', 'GET', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'])
    await newBrowser(fixture.url).go(method, link);
  for (const body of bodies) {
    for (const headers of [{}, sameOrigin]) {
      const answer = await newBrowser(fixture.url).go('POST', link, { ...body }, headers);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('Please open the page again')]);
    }
  }
  expect(await statusOf(id)).toBe('pending');
});

test('a scanner that keeps cookies and presses the first button has no code', async () => {
  const { id, link } = await asked();
  const scanner = fixture.browser();
  const page = await scanner.open(link);
  expect((await scanner.press(page, 'Give access', { code: '' })).text).toContain('No code was typed');
  expect(await statusOf(id)).toBe('pending');
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ['a published site of the platform', { 'sec-fetch-site': 'same-site', origin: 'http://shop.sites.localhost:4480' }],
  ['an old browser on another site', { origin: 'https://evil.example' }],
  ['a page without an origin', { origin: 'null' }],
])('a form that comes from %s is refused, even with cookie and token', async (_what, headers) => {
  const { id, link } = await asked();
  const browser = fixture.browser();
  const fields = formsOf(await browser.open(link))[0]?.fields;
  const answer = await browser.go('POST', link, { ...fields, answer: 'deny' }, headers as Record<string, string>);
  expect(answer.status).toBe(400);
  expect(await statusOf(id)).toBe('pending');
});

test('a form’s token is valid in its own browser alone', async () => {
  const { id, link } = await asked();
  const [mine, other] = [fixture.browser(), fixture.browser()];
  const theirs = formsOf(await other.open(link))[0]?.fields;
  await mine.open(link);
  expect((await mine.go('POST', link, { ...theirs, answer: 'deny' }, sameOrigin)).status).toBe(400);
  expect(await statusOf(id)).toBe('pending');
});

test('five wrong codes expire the request, also concurrently', async () => {
  const { id, link, user_code, secret } = await asked();
  const browsers = [newBrowser(fixture.url), newBrowser(second.url)];
  const pages = await Promise.all(browsers.map((browser) => browser.open(link)));
  const tries = Array.from({ length: 40 }, (_, n) =>
    browsers[n % 2]?.press(pages[n % 2] as (typeof pages)[0], 'Give access', {
      code: `BCDFGHJ${'BCDFGHJKLM'[n % 10]}`,
    }),
  );
  const answers = await Promise.all(tries);
  expect(answers.filter((answer) => answer?.text.includes('That code is not correct'))).toHaveLength(4);
  const { wrongCodes, status } = await fixture.deps.em().findOneOrFail(AccessRequest, id);
  expect([wrongCodes, status]).toEqual([5, 'expired']);
  const late = await browsers[0]?.press(pages[0] as (typeof pages)[0], 'Give access', { code: user_code });
  expect(late?.status).toBe(410);
  expect(late?.text).toContain('Too many wrong codes');
  expect(errorOf(await fixture.redeem({ id, secret })).code).toBe('expired');
}, 60_000);

test('the owner sees the tries left, and codes may be typed loosely', async () => {
  const { id, link, user_code } = await asked();
  const browser = fixture.browser();
  const filled = await browser.press(await browser.open(link), 'Give access', { code: 'nope' });
  expect([filled.status, filled.text]).toEqual([400, expect.stringContaining('you have 5 attempts left')]);
  const wrong = await browser.press(filled, 'Give access', {
    code: user_code === 'BBBBBBBB' ? 'CCCCCCCC' : 'bbbb bbbb',
  });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('you have 4 attempts left')]);
  const typed = ` ${user_code.slice(0, 4).toLowerCase()} – ${user_code.slice(4)} `;
  expect((await browser.press(wrong, 'Give access', { code: typed })).text).toContain('Access granted');
  expect(await statusOf(id)).toBe('approved');
});

test('a code approves its own request alone', async () => {
  const [mine, other] = [await asked(), await asked()];
  const browser = fixture.browser();
  await browser.press(await browser.open(mine.link), 'Give access', { code: other.user_code });
  expect([await statusOf(mine.id), await statusOf(other.id)]).toEqual(['pending', 'pending']);
});

test('a link accepts one answer', async () => {
  const { id, link, user_code } = await asked();
  const browser = fixture.browser();
  const page = await browser.open(link);
  await browser.press(page, 'Give access', { code: user_code });
  const again = await browser.press(page, 'Refuse');
  expect([again.status, again.text]).toEqual([410, expect.stringContaining('You already answered this request')]);
  expect((await browser.open(link)).text).toContain('You already answered this request');
  expect(await statusOf(id)).toBe('approved');
});

test.each(['x', `fra_${'A'.repeat(43)}`, '%00', '..%2f..', 'x'.repeat(3000)])(
  'the link /access/%s is not found',
  async (link) => {
    const browser = fixture.browser();
    expect((await browser.open(`/access/${link}`)).status).toBe(404);
    const own = await browser.open('/signin');
    const fields = formsOf(own)[0]?.fields;
    const answer = await browser.go('POST', `/access/${link}`, { ...fields, answer: 'deny' }, sameOrigin);
    expect(answer.status).toBe(404);
  },
);

test('pages are not cached or framed, and send no referrer', async () => {
  const { link } = await asked();
  const browser = fixture.browser();
  const { headers } = await browser.open(link);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; .*form-action 'self'; frame-ancestors 'none'$/,
  );
  expect(headers.get('referrer-policy')).toBe('same-origin');
  expect(headers.get('x-frame-options')).toBe('DENY');
  const cookies = headers.getSetCookie();
  expect(cookies).toHaveLength(1);
  expect(cookies[0]).toMatch(
    /^__Host-frontage_browser=frb_[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  // The next page's form can be sent for a day too, whenever the browser got its cookie.
  expect((await browser.open(link)).headers.getSetCookie()).toEqual(cookies);
});
