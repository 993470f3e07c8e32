import { describe, expect, test } from 'vitest';
import { ask, askRaw } from './fixture.ts';
import { useShops } from './shops.ts';

const { port, shop } = await useShops();

describe('the Host field', () => {
  test.each([
    'shop.sites.test',
    'SHOP.Sites.Test',
    'shop.sites.test:4480',
    'shop.sites.test.',
    'shop.sites.test.:80',
    'shop.sites.test:',
  ])('%s: the site is served', async (host) => {
    expect((await ask(port, '/', { host })).text).toContain('<title>Front</title>');
  });

  test.each([
    'nobody.sites.test',
    'a.shop.sites.test',
    'shop.sites.test.evil.test',
    'shopXsites.test',
    'shop.sites.test..',
    '.sites.test',
    '..sites.test',
    'example.test',
    'localhost',
    '127.0.0.1',
    '[::1]',
    '[::1]:80',
    'xshop.sites.test',
    '__proto__.sites.test',
    'constructor.sites.test',
  ])('%s: no site is found, and a page explains it', async (host) => {
    const answer = await ask(port, '/', { host });
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('We can’t find this site');
  });

  test.each([
    '',
    ' ',
    'shop.sites.test:x',
    'shop@sites.test',
    'shop.sites.test/',
    'sh op.sites.test',
    'a,b',
    '[::1',
    'shop.sites.test:999999',
  ])('"%s": the host is invalid, with status 400', async (host) => {
    const reply = await askRaw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([
    [
      'two Host fields',
      'GET / HTTP/1.1\r\nHost: shop.sites.test\r\nHost: bare.sites.test\r\nConnection: close\r\n\r\n',
    ],
    [
      'the same Host field twice',
      'GET / HTTP/1.1\r\nHost: shop.sites.test\r\nhost: shop.sites.test\r\nConnection: close\r\n\r\n',
    ],
    ['no Host field', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['no Host field in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
  ])('%s: the status is 400', async (_what, request) => {
    expect(await askRaw(port, request)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('an absolute target overrides the Host field', async () => {
    const request =
      'GET http://SHOP.sites.test:80/about HTTP/1.1\r\nHost: bare.sites.test\r\nConnection: close\r\n\r\n';
    expect(await askRaw(port, request)).toContain('<title>About</title>');
    const root = 'GET http://shop.sites.test HTTP/1.1\r\nHost: bare.sites.test\r\nConnection: close\r\n\r\n';
    expect(await askRaw(port, root)).toContain('<title>Front</title>');
  });

  test('forwarded headers are ignored', async () => {
    const headers = {
      'x-forwarded-host': 'bare.sites.test',
      forwarded: 'host=bare.sites.test',
      'x-host': 'bare.sites.test',
    };
    expect((await shop('/', { headers })).text).toContain('<title>Front</title>');
  });

  test.each([
    ['soon.sites.test', 404, 'Opening soon'],
    ['closed.sites.test', 410, 'This site is closed'],
    ['sites.test', 200, 'Websites live here'],
  ])('%s: the status is %i with the page "%s"', async (host, status, title) => {
    for (const path of ['/', '/about', '/a/b.html']) {
      const answer = await ask(port, path, { host });
      expect(answer.status).toBe(status);
      expect(answer.text).toContain(`<h1>${title}</h1>`);
    }
  });

  test('the edge’s own pages load nothing, run nothing, and are neither cached nor indexed', async () => {
    const { headers, text } = await ask(port, '/', { host: 'nobody.sites.test' });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self' data:; /,
    );
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers['x-robots-tag']).toBe('noindex');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(text).not.toMatch(/<script|https?:\/\/|@import|url\(/);
  });
});
