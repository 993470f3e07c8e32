/** What visitors receive from a version with `_headers` and `_redirects`. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isHashedAsset } from '#edge/content/files.ts';
import { type Ask, ask, createFixture, type Fixture } from '#test/edge/fixture.ts';
import { outputs } from './generators.ts';

let fixture: Fixture;
let port: number;
const page = (title: string) => `<!doctype html><title>${title}</title>`;
const get = (path: string, options: Ask = {}) => ask(port, path, { host: 'app.sites.test', ...options });

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.publish('app', {
    'index.html': page('App'),
    'about.html': page('About'),
    'data.json': '{}',
    'font.woff2': Buffer.from([0]),
    '_astro/app.css': 'a{}',
    'posts/2020-hi.html': page('Post'),
    '404.html': page('Nothing'),
    'de/404.html': page('Nichts'),
    'de/laden/index.html': page('Laden'),
    '.well-known/acme-challenge/0123456789abcdef': 'mine',
    _headers: `/*
  X-Frame-Options: DENY
  Cache-Control: public, max-age=31536000, immutable
/data.json
  Access-Control-Allow-Origin: *
  Access-Control-Allow-Headers: x-key
  Cache-Control: max-age=10
/font.woff2
  X-Content-Type-Options: nosniff
  Cross-Origin-Resource-Policy: cross-origin
/about
  Link: </data.json>; rel=preload
  X-Robots-Tag: noindex
`,
    _redirects: `/blog/:year/:slug /posts/:year-:slug 301
/r/:year/:slug /posts/:year-:slug 200
/about /index.html 200
/out/:name/* https://shop.example/:name/:splat 302
/copy.css /_astro/app.css 200
/de/app/* /index.html 200
/u/* /index.html 200
/assets/* /index.html 200
/loop /loop2 200
/loop2 /loop 200
/rules /_headers 200
/.well-known/:a/:b /index.html 200
`,
  });
  for (const { name, files } of outputs) await fixture.publish(name, files);
  ({ port } = await fixture.openEdge());
});
afterAll(() => fixture?.close());

describe('_headers', () => {
  test('fields apply to files, unchanged responses, parts and 404 pages', async () => {
    const about = await get('/about');
    expect(about.headers).toMatchObject({ link: '</data.json>; rel=preload', 'x-robots-tag': 'noindex' });
    expect(about.headers).toMatchObject({ 'x-frame-options': 'DENY', 'cache-control': 'public, max-age=60' });
    const unchanged = await get('/about', { headers: { 'if-none-match': String(about.headers.etag) } });
    expect([unchanged.status, unchanged.headers['x-robots-tag']]).toEqual([304, 'noindex']);
    const data = await get('/data.json', { headers: { range: 'bytes=0-0' } });
    expect([data.status, data.headers['cache-control']]).toEqual([206, 'max-age=10']);
    expect(data.headers['access-control-allow-origin']).toBe('*');
    const missing = await get('/nothing');
    expect([missing.status, missing.headers['x-frame-options']]).toEqual([404, 'DENY']);
    expect(missing.headers['cache-control']).toBe('public, max-age=60');
    const font = await get('/font.woff2');
    expect(font.headers['x-content-type-options']).toBe('nosniff');
    expect(font.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });

  test('the file itself is not served, and redirects have no fields of it', async () => {
    expect((await get('/_headers')).status).toBe(404);
    expect((await get('/blog/2020/hi')).headers['x-frame-options']).toBeUndefined();
  });

  test('a preflight request gets the fields for its path, and 405 without them', async () => {
    const headers = { origin: 'https://x.example', 'access-control-request-method': 'GET' };
    const allowed = await get('/data.json', { method: 'OPTIONS', headers });
    expect([allowed.status, allowed.headers['access-control-allow-headers']]).toEqual([204, 'x-key']);
    expect(allowed.headers['x-frame-options']).toBeUndefined();
    for (const path of ['/about', '/%00', '/'])
      expect((await get(path, { method: 'OPTIONS', headers })).status).toBe(405);
  });
});

describe('_redirects', () => {
  test.each([
    ['/blog/2020/hi', 301, '/posts/2020-hi'],
    ['/blog/2020/hi?x=1', 301, '/posts/2020-hi?x=1'],
    ['/blog/2020', 404, undefined],
    ['/blog//hi', 404, undefined],
    ['/out/shoes/a/b', 302, 'https://shop.example/shoes/a/b'],
    ['/out/%40evil.example%3A80/a', 302, 'https://shop.example/%40evil.example%3A80/a'],
  ])('%s: %s %s', async (path, status, location) => {
    const answer = await get(path);
    expect([answer.status, answer.headers.location]).toEqual([status, location]);
  });

  test.each([
    ['/about', 'About', 'an existing file precedes a rewrite'],
    ['/r/2020/hi', 'Post', 'placeholders'],
    ['/u/settings/jo.doe', 'App', 'a deep link with a dot'],
    ['/de/app/x', 'App', 'a deep link'],
  ])('%s is "%s": %s', async (path, title) => {
    const answer = await get(path);
    expect([answer.status, answer.text]).toEqual([200, page(title)]);
  });

  test.each([
    ['/u/app.js', 'a script is never a page'],
    ['/u/logo.png', 'a picture is never a page'],
    ['/assets/index-DxY3a1bC.js', 'a hashed asset is never a page'],
    ['/rules', 'a file of rules is never shown'],
    ['/loop', 'a rewrite leads to a file, not to another rule'],
    ['/r/2020/nothing', 'a rewrite to no file is nothing'],
    ['/.well-known/acme-challenge/0123456789abcdef', 'challenges belong to the platform'],
    ['/.well-known/acme-challenge', 'challenges belong to the platform'],
  ])('%s is 404: %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  test('a rewritten file is revalidated, even with an immutable name', async () => {
    const { publish } = fixture;
    await publish('copy', { '_astro/app.css': 'a{}', _redirects: '/copy.css /_astro/app.css 200\n' });
    const other = (path: string) => ask(port, path, { host: 'copy.sites.test' });
    await expect.poll(async () => (await other('/copy.css')).status).toBe(200);
    expect((await other('/copy.css')).headers['cache-control']).toBe('public, max-age=0, must-revalidate');
    expect((await other('/_astro/app.css')).headers['cache-control']).toContain('immutable');
  });
});

describe.each(outputs)('the output of $name', ({ name, expected }) => {
  test.each(expected)('$path', async ({ path, status = 200, shows, immutable, to, type = '' }) => {
    const answer = await ask(port, path, { host: `${name}.sites.test` });
    expect([answer.status, answer.headers.location]).toEqual([status, to]);
    if (shows !== undefined) expect(answer.text).toContain(`<title>${shows}</title>`);
    else expect(answer.text).not.toContain('<!doctype html><title>');
    expect(answer.headers['content-type'] ?? '').toContain(type);
    const usual = status === 404 && shows === undefined ? 'no-store' : 'public, max-age=0, must-revalidate';
    expect(answer.headers['cache-control']).toBe(immutable ? 'public, max-age=31536000, immutable' : usual);
  });
});

test.each([
  ['/de/nichts', 'Nichts'],
  ['/de/laden/nichts/da', 'Nichts'],
  ['/fr/rien', 'Nothing'],
  [`/de/${'x/'.repeat(1_000)}`, 'Nichts'],
])('%s is missing, and the page of the nearest folder says so', async (path, title) => {
  const answer = await get(path);
  expect([answer.status, answer.text]).toEqual([404, page(title)]);
});

test.each([
  ['_astro/plain.css', true],
  ['_astro/fonts/14aa8dd5744dd4bc.woff', true],
  ['_app/immutable/entry/app.js', true],
  ['_next/static/AbC/_buildManifest.js', true],
  ['_nuxt/entry.js', true],
  ['_nuxt/builds/latest.json', false],
  ['_app/version.json', false],
  ['docs/_astro/plain.css', false],
  ['assets/index-DGNrK5qb.js', true],
  ['assets/index-DG-rK5_b.css', true],
  ['assets/js/main.1a2b3c4d.js', true],
  ['assets/js/main.1a2b3c4d5e6f7a8b.js', true],
  ['assets/index-DGNrKqbx.js', false],
  ['assets/index-abcdefgh.js', false],
  ['assets/index-DGNrK5qbX.js', false],
  ['assets/photo-20240101.jpg', false],
  ['assets/main.deadbeef.js', false],
  ['assets/1a2b3c4d.js', false],
  ['other/index-DGNrK5qb.js', false],
])('the name %s is immutable: %s', (path, expected) => {
  expect(isHashedAsset(path)).toBe(expected);
});
