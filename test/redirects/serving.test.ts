import { afterAll, expect, test } from 'vitest';
import { createFixture, createSite, errorOf, until } from '#test/output/fixture.ts';
import { quickest } from '#test/stack/quickest.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const stranger = await fixture.newCaller();
const second = await fixture.openEdge();
afterAll(() => second.close());

const set = (site: { id: string }, rules: unknown, caller = owner) =>
  caller.call('PUT', `/v1/sites/${site.id}/redirects`, { body: { rules } });
const publish = (site: { id: string }, files: Record<string, string>) =>
  fixture.publish(site.id, owner.accountId, files);
const pages = { 'index.html': 'front', 'old.html': 'the old page', 'new.html': 'the new page', '404.html': 'nothing' };

async function newSite(files: Record<string, string> = pages) {
  const site = await createSite(owner);
  await publish(site, files);
  await until(async () => (await fixture.visit(site.name, '/')).status === 200);
  return site;
}
/** Where a visitor is sent, as soon as that is the case. */
async function expectSent(site: { name: string }, path: string, status: number, location?: string) {
  const seen = async () => {
    const { status, headers } = await fixture.visit(site.name, path);
    return { status, location: headers.location };
  };
  await expect.poll(seen, { interval: 10 }).toEqual({ status, location });
}

test('redirects are set as a whole, and active on every edge within a second', async () => {
  const site = await newSite();
  expect((await owner.call('GET', `/v1/sites/${site.id}/redirects`)).body).toEqual({ rules: [] });
  const rules = [
    { from: '/old', to: '/new', status: 301 },
    { from: '/shop/*', to: 'https://shop.example/:splat', status: 302 },
    { from: '/closed', to: null, status: 410 },
  ];
  let tries = 0;
  const inEffect = async () => {
    const began = performance.now();
    const last = { from: '/last', to: `/try-${++tries}`, status: 301 };
    const answer = await set(site, [...rules, last]);
    expect([answer.status, answer.body]).toEqual([200, { rules: [...rules, last] }]);
    for (const edge of [fixture, second])
      await until(async () => (await edge.visit(site.name, '/last')).headers.location === last.to);
    return performance.now() - began;
  };
  expect(await quickest(1_500, inEffect)).toBeLessThan(1_500);
  expect((await set(site, rules)).body).toEqual({ rules });
  for (const edge of [fixture, second]) await until(async () => (await edge.visit(site.name, '/last')).status === 404);
  expect((await owner.call('GET', `/v1/sites/${site.id}/redirects`)).body).toEqual({ rules });
  const moved = await fixture.visit(site.name, '/old?a=1&b=%20');
  expect([moved.status, moved.headers.location]).toEqual([301, '/new?a=1&b=%20']);
  // A browser that kept it would not hear of the next change.
  expect(moved.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
  await expectSent(site, '/shop/shoes/12?x', 302, 'https://shop.example/shoes/12?x');
  await expectSent(site, '/shop', 302, 'https://shop.example/');
  await set(site, []);
  await expectSent(site, '/shop', 404);
  expect((await fixture.visit(site.name, '/old')).text).toBe('the old page');
});

test('a removed page returns 410 with a page, and a picture with a line', async () => {
  const site = await newSite();
  await set(site, [
    { from: '/old', status: 410 },
    { from: '/pictures/*', to: '/', status: 410 },
  ]);
  await expectSent(site, '/old', 410);
  const gone = await fixture.visit(site.name, '/old');
  expect(gone.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(gone.text).toContain('This page is gone');
  expect((await fixture.visit(site.name, '/pictures/a.png')).text).toBe('This page is gone.\n');
});

test('the API’s rules precede the deployment’s, and these precede files', async () => {
  const site = await newSite({ ...pages, _redirects: '/old /new 302\n/a/* /new?from=:splat 307\n' });
  await expectSent(site, '/old', 302, '/new');
  await expectSent(site, '/a/b', 307, '/new?from=b');
  await set(site, [{ from: '/*', to: 'https://moved.example/:splat', status: 308 }]);
  await expectSent(site, '/old', 308, 'https://moved.example/old');
  await set(site, []);
  await expectSent(site, '/old', 302, '/new');
});

test('_redirects is not served as a file, and belongs to its deployment', async () => {
  const site = await newSite({ ...pages, _redirects: '/old /new 301' });
  const first = (await owner.call('GET', `/v1/sites/${site.id}/deployments`)).body.items[0];
  await expectSent(site, '/_redirects', 404);
  await set(site, [{ from: '/set', to: '/new', status: 301 }]);
  await publish(site, pages);
  await expectSent(site, '/old', 200);
  await expectSent(site, '/set', 301, '/new');
  expect((await owner.call('POST', `/v1/deployments/${first.id}/restore`)).status).toBe(200);
  await expectSent(site, '/old', 301, '/new');
  await expectSent(site, '/set', 301, '/new');
});

test('two lists that loop only together cause no endless redirect', async () => {
  const site = await newSite({ ...pages, _redirects: '/new /old 301' });
  await set(site, [{ from: '/old', to: '/new', status: 301 }]);
  await until(async () => (await fixture.visit(site.name, '/new')).status === 200);
  expect((await fixture.visit(site.name, '/old')).status).toBe(200);
});

test.each([
  [[{ from: '/a', to: '/a', status: 301 }], 'Rule 1 creates a loop'],
  [
    [
      { from: '/a', to: '/b', status: 301 },
      { from: '/a', to: '/c', status: 302 },
    ],
    'Rule 2 has the same path as rule 1',
  ],
  [
    [
      { from: '/b', to: '/c', status: 301 },
      { from: '/a', to: 'javascript:alert(1)', status: 301 },
    ],
    'Rule 2 has a target that is neither',
  ],
  [[{ from: '/a', to: '/b', status: 200 }], 'Rule 1 has the status 200'],
  [[{ from: '/a', to: '/b', status: 'x' }], 'rules.0.status'],
  [[{ to: '/b', status: 301 }], 'rules.0.from'],
  ['all', 'rules'],
  [Array.from({ length: 2_001 }, (_, n) => ({ from: `/${n}`, to: '/x', status: 301 })), 'the limit is 2000'],
])('rules that cannot be used are invalid_redirects, and none is stored', async (rules, words) => {
  const site = await createSite(owner);
  await set(site, [{ from: '/kept', to: '/x', status: 301 }]);
  const answer = await set(site, rules);
  expect([answer.status, errorOf(answer).code, errorOf(answer).retryable]).toEqual([400, 'invalid_redirects', false]);
  expect(errorOf(answer).message).toContain(words);
  const { body } = await owner.call('GET', `/v1/sites/${site.id}/redirects`);
  expect(body.rules.map(({ from }: { from: string }) => from)).toEqual(['/kept']);
});

test('a site accepts 2,000 redirects, and an archived one none', async () => {
  const site = await newSite();
  const rules = Array.from({ length: 2_000 }, (_, n) => ({ from: `/p/${n}`, to: `/q/${n}`, status: 301 }));
  expect((await set(site, rules)).status).toBe(200);
  await expectSent(site, '/p/1999', 301, '/q/1999');
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  expect(errorOf(await set(site, [])).code).toBe('site_archived');
  expect((await owner.call('GET', `/v1/sites/${site.id}/redirects`)).body.rules).toHaveLength(2_000);
});

test('a site’s redirects are invisible to other accounts', async () => {
  const site = await createSite(owner);
  const read = await stranger.call('GET', `/v1/sites/${site.id}/redirects`);
  expect([errorOf(read).code, errorOf(await set(site, [], stranger)).code]).toEqual(['not_found', 'not_found']);
});

test('a path of two thousand folders is answered as any other', async () => {
  const site = await newSite();
  await set(site, [{ from: '/a/a/a/*', to: '/new', status: 301 }]);
  await expectSent(site, `/${'a/'.repeat(2_000)}`, 301, '/new');
  await expectSent(site, `/${'b/'.repeat(2_000)}`, 404);
});
