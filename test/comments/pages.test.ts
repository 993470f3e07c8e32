import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overlayModules } from '#web/overlay/modules.ts';
import { createLinkFixture, type LinkFixture, page, secretOf } from './link-fixture.ts';

let fixture: LinkFixture;
beforeAll(async () => {
  fixture = await createLinkFixture();
});
afterAll(() => fixture?.close());

/** All that the database holds, but for the counters of requests. */
async function everything(): Promise<string> {
  const em = fixture.deps.em();
  const tables = await em.execute<{ name: string }[]>(
    `select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'rate_limit' order by 1`,
  );
  const sums = await Promise.all(
    tables.map(({ name }) =>
      em.fork().execute(`select md5(string_agg(row::text, '' order by row::text)) from "${name}" row`),
    ),
  );
  expect(tables.length).toBeGreaterThan(15);
  return JSON.stringify(sums);
}

test('a link opens the site, keeps its key on our host, and writes nothing', async () => {
  const owner = await fixture.newSite();
  const { body } = await owner.review();
  const before = await everything();
  for (const method of ['HEAD', 'GET', 'GET']) {
    const answer = await fetch(`${fixture.url}/review/${secretOf(body)}`, { method, redirect: 'manual' });
    expect(answer.status).toBe(303);
    const to = new URL(answer.headers.get('location') ?? '');
    expect(to.origin).toBe(`http://${owner.site.name}.${fixture.config.baseDomain}`);
    expect(to.href).not.toContain(secretOf(body));
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-frontage_review_[0-9a-z]{16}=frr_/);
    for (const flag of ['HttpOnly', 'Secure', 'SameSite=Lax', 'Path=/']) expect(cookie).toContain(flag);
    expect(cookie).not.toContain('Domain');
  }
  expect(await everything()).toBe(before);
});

test('the link alone counts open comments, for the first page', async () => {
  const owner = await fixture.newSite();
  const { body: resolved } = await owner.open('Done');
  await owner.resolve(resolved.id);
  await owner.open('One');
  await owner.open('Two');
  const opened = await fixture.open(secretOf((await owner.review()).body));
  const to = new URL(opened.headers.get('location') ?? '');
  expect(to.searchParams.get('open')).toBe('2');
  const marked = await fixture.visit(owner.site.name, `${to.pathname}${to.search}`);
  const cookies = [marked.headers['set-cookie']].flat().map((cookie) => String(cookie).split(';')[0]);
  expect(cookies).toEqual([`__Host-frontage_review=${owner.site.public_id}`, '__Host-frontage_welcome=2']);
  const first = await fixture.visit(owner.site.name, '/', { cookie: cookies.join('; ') });
  expect(first.text).toContain(`${owner.site.public_id}" data-frontage-open="2"></script>`);
  expect(String(first.headers['set-cookie'])).toMatch(/^__Host-frontage_welcome=; Path=\/; Max-Age=0;/);
  for (const cookie of [cookies[0], `${cookies[0]}; __Host-frontage_welcome="><script>`]) {
    const later = await fixture.visit(owner.site.name, '/', { cookie: String(cookie) });
    expect([later.text.includes('data-frontage-open'), later.headers['set-cookie']]).toEqual([false, undefined]);
  }
  const forged = await fixture.visit(
    owner.site.name,
    `/.frontage/review?site=${owner.site.public_id}&for=60&open=%22%3E`,
  );
  expect(String(forged.headers['set-cookie'])).not.toContain('welcome');
  // Without the secret, the answer has no count.
  const { text } = await fixture.frame(owner.site.public_id, fixture.originOf(owner.site.name));
  expect(text).toMatch(/You are reviewing <strong>[^<]+<\/strong>\. <span id="waiting"><\/span>/);
});

test('only reviewers with a link get the loader', async () => {
  const owner = await fixture.newSite();
  const marker = `/.frontage/review?site=${owner.site.public_id}&for=60`;
  const marked = await fixture.visit(owner.site.name, marker);
  expect([marked.status, marked.headers.location]).toEqual([303, '/']);
  const cookie = String(marked.headers['set-cookie']).split(';')[0] ?? '';
  expect(cookie).toBe(`__Host-frontage_review=${owner.site.public_id}`);
  const etag = (await fixture.visit(owner.site.name, '/')).headers.etag ?? '';
  const reviewed = await fixture.visit(owner.site.name, '/', {
    cookie,
    'if-none-match': etag,
    'accept-encoding': 'br',
  });
  const loader = `<script type="module" src="/.frontage/overlay/loader.js" data-frontage-frame="${fixture.config.baseUrl}/review/frame/${owner.site.public_id}"></script>`;
  expect(reviewed.text).toBe(page.replace('</body>', `${loader}</body>`));
  expect(reviewed.headers['cache-control']).toBe('private, no-store');
  expect(reviewed.headers.etag).toBeUndefined();
  expect(reviewed.headers['content-length']).toBe(String(reviewed.body.length));
  expect((await fixture.visit(owner.site.name, '/nowhere', { cookie })).text).toContain(loader);
  for (const headers of [{}, { cookie: 'other=1' }, { cookie: '__Host-frontage_review=../../evil' }]) {
    expect((await fixture.visit(owner.site.name, '/', headers)).text).toBe(page);
  }
  const style = await fixture.visit(owner.site.name, '/a.css', { cookie });
  expect([style.text, style.headers.etag === undefined]).toEqual(['b{}', false]);
});

test.each([
  ['/.frontage/review?site=x', 404],
  ['/.frontage/review?site=0123456789abcdef&to=//evil.example', 404],
  ['/.frontage/review?site=0123456789abcdef&to=/%5Cevil.example', 404],
  ['/.frontage/leave?to=https://evil.example', 404],
  ['/.frontage/overlay/../server.ts', 404],
  ['/.frontage/overlay/frame.js', 404],
  ['/.frontage/', 404],
])('the path %s of a site redirects nowhere', async (path, status) => {
  const owner = await fixture.newSite();
  const answer = await fixture.visit(owner.site.name, path);
  expect([answer.status, answer.headers.location]).toEqual([status, undefined]);
});

test('the frame is embedded by its own site alone, and runs only its script', async () => {
  const owner = await fixture.newSite();
  const { answer, policy } = await fixture.frame(owner.site.public_id, fixture.originOf(owner.site.name));
  expect(answer.status).toBe(200);
  expect(policy).toContain(`frame-ancestors ${fixture.originOf(owner.site.name)}`);
  expect(policy).not.toMatch(/\*|unsafe|frame-ancestors 'none'/);
  expect(policy).toMatch(/script-src 'sha256-[^']+'(;|$)/);
  expect(policy).toContain("form-action 'none'");
  expect(answer.headers.get('x-frame-options')).toBeNull();
  const unknown = await fixture.frame('0'.repeat(16), fixture.originOf(owner.site.name));
  expect([unknown.answer.status, unknown.policy.includes("frame-ancestors 'none'")]).toEqual([404, true]);
});

test('our host gives the key only to a browser with the site’s cookie', async () => {
  const [owner, other] = [await fixture.newSite(), await fixture.newSite()];
  const secret = secretOf((await owner.review()).body);
  const ask = (id: string, cookie: string) =>
    fetch(`${fixture.url}/review/hand-over/${id}`, { headers: { cookie } }).then(async (answer) => ({
      text: await answer.text(),
      policy: answer.headers.get('content-security-policy'),
    }));
  const name = (id: string) => `__Host-frontage_review_${id}=${secret}`;
  const own = await ask(owner.site.public_id, name(owner.site.public_id));
  expect(own.text).toContain(secret);
  expect(own.policy).toContain("frame-ancestors 'none'");
  expect((await ask(owner.site.public_id, '')).text).not.toContain(secret);
  expect((await ask(other.site.public_id, name(other.site.public_id))).text).not.toContain(secret);
});

test('the overlay loads less than 40 KB, compressed', async () => {
  const owner = await fixture.newSite();
  const frame = (await fixture.frame(owner.site.public_id, fixture.originOf(owner.site.name))).text;
  const parts = overlayModules.map(({ file }) => gzipSync(readFileSync(file)).length);
  expect(parts.length).toBeGreaterThan(4);
  const total = [...parts, gzipSync(frame).length].reduce((sum, bytes) => sum + bytes, 0);
  console.info(`the overlay is ${total} bytes, compressed`);
  expect(total).toBeLessThan(40_000);
  const served = await fixture.visit(owner.site.name, '/.frontage/overlay/loader.js', { 'accept-encoding': 'gzip' });
  expect([served.headers['content-encoding'], served.headers['content-type']]).toEqual([
    'gzip',
    'text/javascript; charset=utf-8',
  ]);
});
