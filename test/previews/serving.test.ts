/** Responses at the address of a draft. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#test/edge/fixture.ts';
import { launchChromium } from '#test/web/chromium.ts';
import { createPreviewFixture, type PreviewFixture } from './fixture.ts';

let fixture: PreviewFixture;
let address: string;
let name: string;
beforeAll(async () => {
  fixture = await createPreviewFixture();
  const site = await fixture.newSite();
  ({ name } = site);
  await fixture.write(site, 'preview/4', {
    'index.html': '<!doctype html><title>Shop</title><body><h1>Shop</h1></body></html>',
    '404.html': '<!doctype html><body>Not here</body>',
    'style.css': 'h1 { color: red }',
    'blog/index.html': '<body>Blog</body>',
    _redirects: '/old /blog/ 301\n/app/* /index.html 200\n',
    _headers:
      "/*\n  x-robots-tag: all\n  referrer-policy: unsafe-url\n  content-security-policy: default-src 'none'\n  x-frame-options: DENY\n",
    'de/404.html': '<body>Nicht hier</body>',
  });
  await fixture.owner.call('PUT', `/v1/sites/${site.id}/redirects`, {
    body: { rules: [{ from: '/call', to: '/blog/', status: 302 }] },
  });
  ({ address } = (await fixture.build(site, 4)).body);
  await until(async () => (await fixture.visit(address, '/')).status === 200);
}, 60_000);
afterAll(() => fixture?.close());

test('a preview host has 130 random bits, and cannot be a site’s name', async () => {
  expect(new URL(address).hostname).toMatch(/^p--[0-9a-hjkmnp-tv-z]{26}\./);
  const { body } = await fixture.owner.call('POST', '/v1/sites', {
    body: { name: new URL(address).hostname.split('.')[0], title: 'T' },
  });
  expect(body.error.code).toBe('invalid_name');
  const other = address.replace(/p--./, (start) => (start.endsWith('0') ? 'p--1' : 'p--0'));
  expect((await fixture.visit(other, '/')).status).toBe(404);
});

test('a bar on each page marks the draft and links to the live site', async () => {
  const { text, headers } = await fixture.visit(address, '/', { headers: { 'accept-encoding': 'br, gzip' } });
  expect(text).toMatch(/<h1>Shop<\/h1><frontage-draft>.*<\/frontage-draft><\/body><\/html>$/s);
  expect(text).toContain('Draft in preview 4, not published.');
  expect(text).toContain(`href="//${name}.${fixture.config.baseDomain}:${new URL(address).port}/"`);
  expect(headers['content-encoding']).toBeUndefined();
  expect(headers['cache-control']).toBe('private, no-cache');
  const again = await fixture.visit(address, '/', { headers: { 'if-none-match': headers.etag as string } });
  expect(again.status).toBe(304);
  const missing = await fixture.visit(address, '/nowhere');
  expect([missing.status, missing.text]).toEqual([404, expect.stringMatching(/^<!doctype html><body>Not here<front/)]);
});

test.each(['/', '/style.css', '/nowhere', '/nowhere.png', '/old', '/call', '/blog', '/'])(
  'search engines must not index %s',
  async (at) => {
    expect((await fixture.visit(address, at)).headers['x-robots-tag']).toMatch(/^noindex/);
  },
);

test('the site’s headers apply, but for those that the platform sets for drafts', async () => {
  for (const at of ['/', '/style.css', '/app/x', '/de/x']) {
    const { headers } = await fixture.visit(address, at);
    expect(headers).toMatchObject({ 'x-frame-options': 'DENY', 'x-robots-tag': 'noindex, nofollow' });
    expect([headers['referrer-policy'], headers['content-security-policy']]).toEqual(['same-origin', undefined]);
  }
  expect((await fixture.visit(address, '/app/x')).text).toContain('<h1>Shop</h1><frontage-draft>');
  expect((await fixture.visit(address, '/de/x')).text).toContain('Nicht hier');
  expect((await fixture.visit(address, '/_headers')).status).toBe(404);
});

test('other files and redirects are served as on the site', async () => {
  const style = await fixture.visit(address, '/style.css');
  expect([style.text, style.headers['content-type']]).toEqual(['h1 { color: red }', 'text/css; charset=utf-8']);
  const found = async (at: string) => {
    const { status, headers } = await fixture.visit(address, at);
    return [status, headers.location];
  };
  expect(await found('/old')).toEqual([301, '/blog/']);
  expect(await found('/call')).toEqual([302, '/blog/']);
  expect(await found('/blog')).toEqual([308, '/blog/']);
});

test('a preview’s host is hidden from other sites, except in a script’s own calls', { tags: 'chromium' }, async () => {
  const heard: { url: string; referer: string | undefined; origin: string | undefined }[] = [];
  const other = createServer(({ url = '', headers: { referer, origin } }, answer) => {
    heard.push({ url, referer, origin });
    answer.setHeader('access-control-allow-origin', '*').end();
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const chrome = await launchChromium({ hosts: `MAP *.${fixture.config.baseDomain} 127.0.0.1:${fixture.edgePort}` });
  try {
    const page = await chrome.newPage();
    const there = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await page.goto(`${address}/`);
    await page.evaluate(`Promise.all([
      new Promise((done) => Object.assign(new Image(), { src: '${there}/picture', onload: done, onerror: done })),
      fetch('${there}/call', { method: 'POST', body: 'x' }),
    ])`);
    for (const element of [
      `<a href="${there}/link">x</a>`,
      `<form method="post" action="${there}/form"><button>x</button></form>`,
    ]) {
      await page.goto(`${address}/`);
      await page.evaluate(`document.body.insertAdjacentHTML('afterbegin', ${JSON.stringify(element)})`);
      await page.locator('body > a, body button').first().click();
      await page.waitForURL(`${there}/*`);
    }
    const told = Object.fromEntries(heard.map(({ url, referer, origin }) => [url, [referer, origin]]));
    expect(told).toMatchObject({
      '/picture': [undefined, undefined],
      '/call': [undefined, new URL(address).origin],
      '/link': [undefined, undefined],
      '/form': [undefined, 'null'],
    });
  } finally {
    await chrome.close();
    other.closeAllConnections();
    other.close();
  }
});

test('the live site has neither the bar nor a ban on indexing', async () => {
  const site = await fixture.newSite();
  await fixture.write(site, 'main', { 'index.html': '<body>Live</body>' });
  await fixture.publishSite(site);
  await expect.poll(async () => (await fixture.visit(site, '/')).status).toBe(200);
  const { text, headers } = await fixture.visit(site, '/');
  expect(text).toBe('<body>Live</body>');
  expect(headers['x-robots-tag']).toBeUndefined();
  expect(headers['referrer-policy']).toBeUndefined();
});

test('the site’s style does not reach the bar, and clicks pass through it', { tags: 'chromium' }, async () => {
  const style =
    '<style>* { color: red !important; font-size: 90px !important; pointer-events: auto !important }</style>';
  const { text } = await fixture.visit(address, '/');
  const chrome = await launchChromium();
  try {
    const page = await chrome.newPage({ viewport: { width: 390, height: 700 } });
    const body = text.replace('<body>', `${style}<body style="margin:0;min-height:100vh">`);
    await page.route('http://draft.test/', (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto('http://draft.test/');
    const seen = await page.evaluate(`(() => {
      const host = document.querySelector('frontage-draft');
      const bar = host.shadowRoot.querySelector('p').getBoundingClientRect();
      const link = host.shadowRoot.querySelector('a');
      const at = link.getBoundingClientRect();
      return {
        height: bar.height, width: bar.width, bottom: bar.bottom,
        under: document.elementFromPoint(4, bar.top + 4).localName,
        link: document.elementFromPoint(at.left + 4, at.top + 4).localName,
        href: link.href, color: getComputedStyle(link).color,
      };
    })()`);
    expect(seen).toMatchObject({ width: 390, bottom: 700, under: 'body', link: 'frontage-draft' });
    const { height, href, color } = seen as { height: number; href: string; color: string };
    expect(height).toBeLessThan(40);
    expect(new URL(href).hostname).toBe(`${name}.${fixture.config.baseDomain}`);
    expect(color).not.toBe('rgb(255, 0, 0)');
  } finally {
    await chrome.close();
  }
});
