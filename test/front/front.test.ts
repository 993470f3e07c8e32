/** The front door and unknown addresses: pages for people, JSON for programs. */
import { afterAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const { anyone } = fixture;
const { baseUrl } = fixture.config;
const browsers = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const json = 'application/json; charset=utf-8';
const page = 'text/html; charset=utf-8';
const typeOf = (headers: Headers) => headers.get('content-type');

/** What `Accept` asks for, by RFC 9110 section 12.5.1. */
const asked: [string | undefined, typeof json | typeof page][] = [
  [browsers, page],
  ['text/html', page],
  ['TEXT/HTML;Q=0.9, */*;q=0.8', page],
  ['text/html, application/json;q=0.9', page],
  ['text/html;q=0.5, application/json;q=0.4', page],
  [undefined, json],
  ['*/*', json],
  ['text/*', json],
  ['application/json', json],
  ['application/json, text/plain, */*', json],
  ['application/json, text/html;q=0.9', json],
  ['text/html;q=0', json],
  ['text/html;q=0.0, */*', json],
  ['text/html;q=0.1, */*', json],
  ['text/html-sandboxed, image/*', json],
  ['<script>', json],
];

test.each(asked)('an Accept of %s gets the right form at every address', async (accept, type) => {
  const headers: Record<string, string> = accept === undefined ? {} : { accept };
  for (const [path, status] of [
    ['/', 200],
    ['/?a=<script>alert(1)', 200],
    ['/nothing', 404],
    ['/nothing/<script>alert(1)</script>', 404],
    ['/skill/nothing', 404],
    ['/%', 400],
  ] as const) {
    const answer = await anyone('GET', path, { headers });
    expect([path, answer.status, typeOf(answer.headers)]).toEqual([path, status, type]);
    expect(answer.headers.get('vary')?.split(', ')).toContain('accept');
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.text).not.toContain('<script>alert');
  }
});

test('the front door names llms.txt to people, to programs and to robots', async () => {
  const door = await anyone('GET', '/', { headers: { accept: browsers } });
  expect(door.text).toContain('href="/llms.txt"');
  expect(door.text).toContain('href="/signin"');
  expect(door.text).toContain(`claude mcp add --transport http frontage ${baseUrl}/mcp`);
  expect(door.headers.get('content-security-policy')).toMatch(
    /default-src 'none'.*form-action 'none'; frame-ancestors 'none'/,
  );
  expect(door.headers.get('cache-control')).toBe('no-store');
  expect((await anyone('GET', '/')).body).toMatchObject({ llms_txt: `${baseUrl}/llms.txt`, mcp: `${baseUrl}/mcp` });
  const robots = await anyone('GET', '/robots.txt');
  expect([robots.status, typeOf(robots.headers)]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(robots.text).toMatch(new RegExp(`^# Agents: ${baseUrl}/llms.txt`));
  const refused = await anyone('GET', '/v1/sites');
  expect([refused.status, errorOf(refused).next_action]).toEqual([401, expect.stringContaining('/llms.txt')]);
});

test('HEAD is answered like GET, without a body', async () => {
  const ask = (method: string, path: string, accept: string) =>
    fetch(`${fixture.url}${path}`, { method, headers: { accept } });
  for (const accept of [browsers, '*/*'])
    for (const path of ['/', '/robots.txt', '/favicon.ico', '/nothing']) {
      const [get, head] = [await ask('GET', path, accept), await ask('HEAD', path, accept)];
      const [wanted, got] = [get, head].map(({ status, headers }) => [path, status, typeOf(headers)]);
      expect([...(got ?? []), await head.text()]).toEqual([...(wanted ?? []), '']);
      await get.arrayBuffer();
    }
});

test('a browser that is signed in sees its account, and no other browser does', async () => {
  const { browser } = await fixture.newSignedIn();
  const shown = await browser.go('GET', '/', undefined, { accept: browsers });
  expect(shown.text).toContain('href="/account"');
  expect(shown.text).not.toContain('href="/signin"');
  expect(shown.headers.get('set-cookie')).toBeNull();
  const forged = { accept: browsers, cookie: `__Host-frontage_session=frs_${'a'.repeat(43)}` };
  expect((await anyone('GET', '/', { headers: forged })).text).toContain('href="/signin"');
});

test('a page answers with JSON to a program that prefers it', async () => {
  for (const [method, path] of [
    ['GET', '/signin/frl_nothing'],
    ['POST', '/signin'],
    ['GET', '/access/nothing'],
  ] as const) {
    const [asPage, asJson] = await Promise.all(
      ['*/*', 'application/json'].map((accept) => anyone(method, path, { headers: { accept } })),
    );
    expect([path, asPage && typeOf(asPage.headers)]).toEqual([path, page]);
    expect([path, asJson?.status, asJson && typeOf(asJson.headers)]).toEqual([path, asPage?.status, json]);
    expect(asJson && errorOf(asJson).code).toMatch(/not_found|invalid_origin/);
  }
});

test('where owners cannot sign in, the front door offers no sign-in', async () => {
  const closed = await createPeopleFixture({ FRONTAGE_EMAIL_SIGNIN: 'off' });
  try {
    const { text } = await closed.anyone('GET', '/', { headers: { accept: browsers } });
    expect(text).not.toMatch(/signin|Give access/);
    expect(text).toContain('gives you a token');
    expect((await closed.anyone('GET', '/')).body).not.toHaveProperty('sign_in');
  } finally {
    await closed.close();
  }
});
