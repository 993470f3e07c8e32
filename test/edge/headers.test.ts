import { describe, expect, test } from 'vitest';
import { askRaw } from './fixture.ts';
import { useShops } from './shops.ts';

const { port, shop } = await useShops();

describe('headers', () => {
  test.each([
    ['/', 'text/html; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/_astro/index.DxY3_a1b.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/_astro/photo.C1x2AbCd_Z1abc2.webp', 'image/webp', 'public, max-age=31536000, immutable'],
    ['/_astro/plain.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/logo.svg', 'image/svg+xml; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/data.json', 'application/json; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/feed.xml', 'application/xml; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/script.js', 'text/javascript; charset=utf-8', 'public, max-age=0, must-revalidate'],
    ['/font.woff2', 'font/woff2', 'public, max-age=0, must-revalidate'],
    ['/strange.qqq', 'application/octet-stream', 'public, max-age=0, must-revalidate'],
    ['/plain', 'application/octet-stream', 'public, max-age=0, must-revalidate'],
    [
      '/.well-known/apple-app-site-association',
      'application/json; charset=utf-8',
      'public, max-age=0, must-revalidate',
    ],
    ['/.well-known/atproto-did', 'text/plain; charset=utf-8', 'public, max-age=0, must-revalidate'],
  ])('%s has the type %s and the cache-control %s', async (path, type, cacheControl) => {
    const { status, headers } = await shop(path);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe(type);
    expect(headers['cache-control']).toBe(cacheControl);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['accept-ranges']).toBe('bytes');
    expect(headers.etag).toMatch(/^"[0-9a-f]{64}"$/);
  });

  test('an empty file has an empty response', async () => {
    const { status, headers, body } = await shop('/empty.txt');
    expect([status, headers['content-length'], body.length]).toEqual([200, '0', 0]);
  });

  test('no response ever sets a cookie', async () => {
    for (const path of ['/', '/nothing', '/blog', '/%00'])
      expect((await shop(path, { headers: { cookie: 'a=b' } })).headers['set-cookie']).toBeUndefined();
  });
});

describe('methods', () => {
  test.each(['/', '/long.html', '/nothing', '/blog', '/gone.js', '/empty.txt'])(
    'HEAD %s has the fields of GET and no body',
    async (path) => {
      for (const encoding of ['identity', 'br']) {
        const headers = { 'accept-encoding': encoding };
        const [got, head] = [await shop(path, { headers }), await shop(path, { method: 'HEAD', headers })];
        expect(head.status).toBe(got.status);
        expect({ ...head.headers, date: '' }).toEqual({ ...got.headers, date: '' });
        expect(head.body.length).toBe(0);
      }
    },
  );

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '%s is 405, with the allowed methods',
    async (method) => {
      const answer = await shop('/', { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe('GET, HEAD');
    },
  );

  test('a body is not read, and not taken for a request', async () => {
    const inner = 'GET /about HTTP/1.1\r\nHost: shop.sites.test\r\n\r\n';
    for (const method of ['GET', 'POST']) {
      const request = `${method} / HTTP/1.1\r\nHost: shop.sites.test\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`;
      const reply = await askRaw(port, request);
      expect(reply.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
      expect(reply).toMatch(/\r\nConnection: close\r\n/i);
    }
  });

  test('requests sent in one piece are responded to in their order', async () => {
    const line = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: shop.sites.test\r\n${more}\r\n`;
    const reply = await askRaw(port, line('/') + line('/about') + line('/blog/', 'Connection: close\r\n'));
    expect(reply.match(/<title>\w+<\/title>/g)).toEqual(['Front', 'About', 'Blog'].map((t) => `<title>${t}</title>`));
  });
});
