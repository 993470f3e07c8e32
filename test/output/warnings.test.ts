import { Readable } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { inspect, isServed } from '#api/deployments/warnings/inspect.ts';
import { readPage } from '#api/deployments/warnings/page.ts';
import { renderManifest } from '#providers/manifest.ts';
import { quickest } from '#test/stack/quickest.ts';
import { createFixture, createSite, sha256, until } from './fixture.ts';
import { sender } from './sending.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { publish } = sender(owner);
const origin = 'http://site.test';
const read = async (id: string) => (await owner.call('GET', `/v1/deployments/${id}`)).body;
const page = (body: string, head = '<title>Page</title>') =>
  `<!doctype html><html><head>${head}</head><body>${body}</body></html>`;
/** The answer of a publish has what was found in a moment; who asks later has the rest. */
const wholeOf = async ({ id, warnings }: { id: string; warnings: { pages: { read: number; all: number } } }) =>
  warnings.pages.read === warnings.pages.all ? warnings : (await read(id)).warnings;
const warned = async (files: Record<string, string | Buffer>) => wholeOf(await publish(await createSite(owner), files));
const kinds = (warnings: { items: { kind: string; path: string; target?: string }[] }) =>
  warnings.items.map(({ kind, path, target }) => [kind, path, target]);

test('faults in the output are warnings, and do not stop the publish', async () => {
  const site = await createSite(owner);
  const live = await publish(site, {
    'index.html': page('<a href="/missing">x</a><img src="logo.png"><img src="/logo.png" alt="">'),
    'a/index.html': page('<a href="b">x</a>', '<title> </title>'),
    'logo.png': Buffer.from(
      '89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000049454e44ae426082',
      'hex',
    ),
    'big.bin': Buffer.alloc(1_500_000, 1),
  });
  expect([live.status, live.warnings.pages.all]).toEqual(['live', 2]);
  const warnings = await wholeOf(live);
  expect(warnings.counts).toMatchObject({
    broken_link: 2,
    image_without_alt: 1,
    page_without_title: 1,
    large_file: 1,
  });
  expect(warnings.pages).toEqual({ read: 2, all: 2 });
  expect(kinds(warnings)).toEqual([
    ['large_file', 'big.bin', undefined],
    ['page_without_title', 'a/index.html', undefined],
    ['broken_link', 'a/index.html', '/a/b'],
    ['image_without_alt', 'index.html', undefined],
    ['broken_link', 'index.html', '/missing'],
  ]);
  expect(warnings.items[4].message).toBe('index.html links to /missing, which does not exist in this version.');
  expect((await read(live.id)).warnings).toEqual(warnings);
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/deployments`)).body;
  expect(items[0].warnings).toBeUndefined();
});

test('a version without a home page is published, with that warning first', async () => {
  const warnings = await warned({ 'dist/index.html': page(''), 'dist/deep/er/index.html': page(''), 'a.html': '<p>x' });
  expect(warnings.counts).toMatchObject({ no_home_page: 1, page_without_title: 1 });
  expect(warnings.items[0]).toMatchObject({ kind: 'no_home_page', path: '/' });
  expect(warnings.items[0].message).toContain(
    'dist/index.html exists. Did you mean to upload the contents of its folder?',
  );
  const led = await warned({ 'a.html': page(''), _redirects: '/ /a 302' });
  expect(led.items).toEqual([]);
});

test('a built version has its warnings when it is read', async () => {
  const site = await createSite(owner);
  const id = await fixture.publish(site.id, owner.accountId, { 'index.html': page('<a href="/gone">x</a>') });
  expect(kinds((await read(id)).warnings)).toEqual([['broken_link', 'index.html', '/gone']]);
});

test('working links are not broken, in any notation', async () => {
  const site = await createSite(owner);
  await owner.call('PUT', `/v1/sites/${site.id}/redirects`, {
    body: { rules: [{ from: '/set/*', to: '/', status: 301 }] },
  });
  const origin = new URL(site.address).origin;
  const hrefs = [
    '/',
    '',
    '#top',
    '/a',
    '/a/',
    'a',
    './a',
    '../a',
    'a#part',
    'a?q=1',
    '/b',
    '/b.html',
    'caf%C3%A9',
    'café',
    `${origin}/a`,
    origin,
    '/old',
    '/set/x',
    'https://elsewhere.example/x',
    '//elsewhere.example/x',
    'mailto:a@b.example',
    'tel:1',
    'javascript:void(0)',
    'data:text/plain,x',
    'HTTPS://ELSEWHERE.EXAMPLE',
    'http://[',
    ' /a ',
  ];
  const links = hrefs.map((href) => `<a href="${href}">x</a>`).join('');
  const { warnings } = await publish(site, {
    'index.html': page(links),
    'a/index.html': page('<a href="../b">'),
    'b.html': page(''),
    'café.html': page(''),
    _redirects: '/old /b',
  });
  expect(warnings.items).toEqual([]);
});

test('broken links are found in every linking element', async () => {
  const body =
    '<img alt="" src="/1"><img alt="" srcset="/2 1x, /3 2x"><script src="/4"></script><link rel="stylesheet" href="/5"><video poster="/6" src="/7"></video><source src="/8"><iframe src="/9"></iframe><area href="/10"><a href="/%zz">x</a><a href="_redirects">x</a><link rel=preconnect href="/no">';
  const warnings = await warned({
    'index.html': page(`<base href="/folder/">${body}<a href="in">x</a>`),
    _redirects: '# none',
  });
  const targets = kinds(warnings).map(([, , target]) => target);
  expect(targets).toEqual([
    '/1',
    '/2',
    '/3',
    '/4',
    '/5',
    '/7',
    '/6',
    '/8',
    '/9',
    '/10',
    '/%zz',
    '/folder/_redirects',
    '/folder/in',
  ]);
});

test('text in scripts, comments and drawings is not checked as a page', async () => {
  const warnings = await warned({
    'index.html': `<!doctype html><!-- <img src=x> --><script>"<img src=y><a href='/no'>"</script><svg><title>Drawing</title></svg><textarea><img src=z></textarea>`,
  });
  expect(warnings.counts).toMatchObject({ broken_link: 0, image_without_alt: 0, page_without_title: 1, large_file: 0 });
});

test('a thousand faults are counted, and the first hundred listed', async () => {
  const links = Array.from({ length: 400 }, (_, n) => `<a href="/missing-${n}">x</a>`).join('');
  const warnings = await warned({ 'index.html': page(links), 'b.html': page(links), 'c.html': page(links) });
  expect(warnings.counts.broken_link).toBe(1_200);
  expect(warnings.items).toHaveLength(100);
});

const hostile: [string, string][] = [
  ['depth', '<div>'.repeat(200_000)],
  ['wrongly closed elements', `${'<a>'.repeat(100_000)}${'</b>'.repeat(100_000)}`],
  ['attributes', `<a ${Array.from({ length: 60_000 }, (_, n) => `a${n}=1`).join(' ')}>`],
  ['one long attribute', `<a href="${'x'.repeat(1_000_000)}">`],
  ['a tag that never ends', `<${'a'.repeat(1_000_000)}`],
  ['entities', '&amp;'.repeat(200_000)],
  ['comments', '<!--'.repeat(250_000)],
  ['open brackets', '<'.repeat(1_000_000)],
  ['many links', '<a href=/x>'.repeat(90_000)],
  ['an endless srcset', `<img srcset="${'/a 1x, '.repeat(100_000)}">`],
  ['odd text', '\0\ud800<a href="/\u202e\ud800">\u2028</a>'.repeat(1_000)],
  ['prototype names', '<__proto__ constructor=1><a __proto__=x hasOwnProperty=y href=/z><constructor src=x>'],
];

test.each(hostile)('a page of %s is read quickly, or skipped', async (_what, text) => {
  const content = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536);
  }
  const read = async () => expect((await readPage(chunks())).links.size).toBeLessThanOrEqual(500);
  expect(await quickest(3_000, read)).toBeLessThan(3_000);
});

test('inspecting a large version does not delay other requests', async () => {
  const content = Buffer.from(
    page(Array.from({ length: 500 }, (_, n) => `<a href="/missing/of/some/length-${n}">x</a>`).join('')),
  );
  const manifest = renderManifest(
    Array.from({ length: 2_000 }, (_, n) => ({ path: `p${n}.html`, sha256: sha256(`${n}`), bytes: 20_000 })),
  );
  const store = {
    readAll: async () => manifest,
    read: async () => Readable.from([content]),
  };
  const longestTurn = async () => {
    const since = { turn: performance.now(), longest: 0 };
    const turn = () => {
      since.longest = Math.max(since.longest, performance.now() - since.turn);
      since.turn = performance.now();
    };
    const watch = setInterval(turn, 5);
    const found = await inspect(store, {
      manifestSha256: '',
      origins: [origin],
      baseUrl: origin,
      rules: [],
      timeoutMs: 1_000,
    });
    clearInterval(watch);
    turn();
    expect(found?.counts.broken_link).toBe((found?.pages.read ?? 0) * 500);
    return since.longest;
  };
  expect(await quickest(500, longestTurn)).toBeLessThan(500);
});

test('a version of hostile pages goes live, with the number of pages read', async () => {
  const files = Object.fromEntries(
    hostile.filter(([, text]) => !text.includes('\0')).map(([, text], n) => [`p${n}.html`, text]),
  );
  const warnings = await warned(files);
  expect(warnings.pages.all).toBe(Object.keys(files).length);
});

test('links are resolved as the edge finds files', async () => {
  const site = await createSite(owner);
  const files = {
    'index.html': 'x',
    'a.html': 'x',
    'b/index.html': 'x',
    'c.html': 'x',
    'c/index.html': 'x',
    'd/e': 'x',
    '404.html': 'x',
    plain: 'x',
  };
  await publish(site, files);
  await until(async () => (await fixture.visit(site.name, '/')).status === 200);
  const served = new Set(Object.keys(files));
  const paths =
    ' a a/ a.html a.html/ b b/ b/index.html b/index c c/ d d/ d/e d/e/ index index/ index.html plain plain/ x x/';
  for (const path of paths.split(' ')) {
    const { status } = await fixture.visit(site.name, `/${path}`);
    expect([path, isServed(served, path)]).toEqual([path, status !== 404]);
  }
});
