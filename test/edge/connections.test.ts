/** Hostile connections: smuggled requests, forged hosts, and slow clients. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { quickest } from '#test/stack/quickest.ts';
import { ask, askRaw, until } from './fixture.ts';
import { useShops } from './shops.ts';
import { shop, smuggled, smuggling } from './smuggled.ts';

const { fixture, port } = await useShops();

const bare = 'GET / HTTP/1.1\r\nHost: bare.sites.test\r\nConnection: close\r\n\r\n';

describe('a body is never read as a request', () => {
  test.each(smuggling)('%s', async (_how, rest) => {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const reply = await askRaw(port, `${method} / HTTP/1.1\r\n${shop}${rest}`);
      expect(reply.match(/HTTP\/1\.1 \d/g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(reply).not.toContain('<title>About</title>');
    }
  });

  test.each([
    ['a length', `Content-Length: ${smuggled.length}\r\n\r\n`, smuggled],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n', `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`],
  ])('%s, and the body is sent after the response’s header', async (_how, rest, body) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`GET / HTTP/1.1\r\n${shop}${rest}`));
    socket.on('error', () => {});
    let got = '';
    socket.on('data', (chunk) => (got += chunk.toString()));
    await once(socket, 'data');
    socket.write(body);
    await once(socket, 'close');
    expect(got.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
    expect(got).not.toContain('<title>About</title>');
  });

  test('on a connection that was used before', async () => {
    const first = `GET /blog/ HTTP/1.1\r\n${shop}\r\n`;
    const socket = connect(port, '127.0.0.1', () => socket.write(first));
    let got = '';
    socket.on('data', (chunk) => (got += chunk.toString()));
    await once(socket, 'data');
    socket.write(`GET / HTTP/1.1\r\n${shop}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`);
    await once(socket, 'close');
    expect(got.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(got).not.toContain('<title>About</title>');
  });
});

test('pipelined requests are answered in order, each by its own host', async () => {
  const requests = ['shop', 'bare', 'nobody', 'shop'].map(
    (name) => `GET / HTTP/1.1\r\nHost: ${name}.sites.test\r\n\r\n`,
  );
  const reply = await askRaw(port, requests.join('') + bare);
  const titles = [...reply.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title);
  expect(titles).toEqual(['Front', 'Bare', 'We can’t find this site', 'Front', 'Bare']);
});

describe('only the requested host decides', () => {
  const forged = [
    'X-Forwarded-Host: bare.sites.test',
    'X-Forwarded-Server: bare.sites.test',
    'X-Original-Host: bare.sites.test',
    'X-HTTP-Host-Override: bare.sites.test',
    'X-Host: bare.sites.test',
    'Forwarded: host=bare.sites.test;proto=https',
    'X-Original-URL: /about',
    'X-Rewrite-URL: /about',
    'X-Forwarded-Prefix: /about',
    'X-HTTP-Method-Override: DELETE',
    'Referer: http://bare.sites.test/',
    'Origin: http://bare.sites.test',
    ':authority: bare.sites.test',
    'Host2: bare.sites.test',
  ];
  test.each(forged)('a forged %s does not count', async (field) => {
    const reply = await askRaw(port, `GET / HTTP/1.1\r\n${shop}${field}\r\nConnection: close\r\n\r\n`);
    expect(reply).not.toContain('<title>Bare</title>');
    expect(reply).not.toContain('<title>About</title>');
    // A colon begins no name of a field.
    expect(reply.slice(0, 13)).toBe(field.startsWith(':') ? 'HTTP/1.1 400 ' : 'HTTP/1.1 200 ');
    expect(reply).not.toMatch(/^(location|x-forwarded)/im);
  });

  test.each([
    ['a letter that looks like one of the name', 'sh\u043ep.sites.test'],
    ['a full stop of another script', 'shop\u3002sites.test'],
    ['wide letters', '\uff53\uff48\uff4f\uff50.sites.test'],
    ['bytes that are not UTF-8', 'shop\xff.sites.test'],
    ['unknown punycode', 'xn--shp-5cd.sites.test'],
    ['an escape', 'sh%6fp.sites.test'],
    ['a user', 'bare.sites.test@shop.sites.test'],
    ['a path', 'shop.sites.test/about'],
    ['a query', 'shop.sites.test?'],
    ['a fragment', 'shop.sites.test#'],
    ['a space', 'shop.sites.test bare.sites.test'],
    ['a comma', 'shop.sites.test,bare.sites.test'],
    ['a NUL', 'shop.sites.test\0.bare.sites.test'],
    ['two ports', 'shop.sites.test:80:80'],
    ['a port of letters', 'shop.sites.test:http'],
    ['256 letters', `${'a'.repeat(256)}.sites.test`],
    ['8,000 letters', `${'a'.repeat(8000)}.sites.test`],
  ])('a host with %s is no site', async (_what, host) => {
    const field = Buffer.from(host).toString('latin1');
    const reply = await askRaw(port, `GET / HTTP/1.1\r\nHost: ${field}\r\nConnection: close\r\n\r\n`);
    expect(reply).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(reply).not.toContain('<title>Front</title>');
  });
});

describe('an abusive field has little effect', () => {
  test.each([
    ['a thousand ranges', `Range: bytes=${Array.from({ length: 1000 }, (_, n) => `${n}-`).join(',')}`],
    ['overlapping ranges', 'Range: bytes=0-,0-,0-,0-,0-,0-,0-,0-'],
    ['a range of many digits', `Range: bytes=0-${'9'.repeat(5000)}`],
    ['many tags', `If-None-Match: ${'"a", '.repeat(1500)}"b"`],
    ['an endless tag', `If-None-Match: "${'a'.repeat(7000)}`],
    ['many encodings', `Accept-Encoding: ${Array.from({ length: 1000 }, (_, n) => `e${n};q=0.5`).join(',')}`],
    ['weights of many digits', `Accept-Encoding: br;q=0.${'0'.repeat(5000)}1`],
  ])('%s', async (_what, field) => {
    const asked = async () => {
      const reply = await askRaw(port, `GET /long HTTP/1.1\r\n${shop}${field}\r\nConnection: close\r\n\r\n`);
      expect(reply).toMatch(/^HTTP\/1\.1 200 /);
      expect(reply.length).toBeLessThan(6_000);
    };
    expect(await quickest(2_000, asked)).toBeLessThan(2_000);
  });

  test('2,500 fields are served, or refused with status 431', async () => {
    const fields = Array.from({ length: 2_500 }, (_, n) => `A${n}: b\r\n`).join('');
    const reply = await askRaw(port, `GET / HTTP/1.1\r\n${shop}${fields}Connection: close\r\n\r\n`);
    expect(reply.slice(0, 13)).toBe('HTTP/1.1 431 ');
  });
});

describe('a client that half-closes gets its response, and then the end', () => {
  const large = 'words '.repeat(500_000);
  beforeAll(() => fixture.publish('large', { 'index.html': 'x', 'words.txt': large }));

  const asking = (path: string, fields: string[] = []) =>
    [`GET ${path} HTTP/1.1`, 'Host: shop.sites.test', ...fields, '', ''].join('\r\n');

  async function answerTo(request: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    let got = '';
    socket.on('data', (chunk) => (got += chunk.toString()));
    socket.end(request);
    await once(socket, 'close');
    return got;
  }

  test.each([
    ['the fast path', []],
    ['Node’s HTTP', ['TE: trailers']],
    ['Node’s HTTP, with Connection: close', ['Connection: close']],
  ])('on %s', async (_way, fields) => {
    expect(await answerTo(asking('/about', fields))).toContain('<title>About</title>');
  });

  test('after two requests at once', async () => {
    expect((await answerTo(asking('/about').repeat(2))).match(/<title>About/g)).toHaveLength(2);
  });

  test('when the response exceeds memory', async () => {
    const request = asking('/words.txt').replace('shop', 'large');
    await until(async () => (await ask(port, '/', { host: 'large.sites.test' })).status === 200);
    expect((await answerTo(request)).endsWith(large)).toBe(true);
  });

  test('an incomplete request gets an error or nothing', async () => {
    expect(await answerTo(asking('/about').slice(0, -2))).toMatch(/^(HTTP\/1\.1 400 |$)/);
  });
});

describe('a slow client is cut off, and the others do not wait for it', () => {
  const ended = (socket: Socket) => once(socket, 'close').then(() => performance.now());

  test('when silent, when sending byte by byte, and when stopping within a second request', async () => {
    const began = performance.now();
    const sockets = ['', 'GET / HT', `GET / HTTP/1.1\r\n${shop}\r\n`].map((words) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(words));
      return socket.on('error', () => {}).resume();
    });
    const [, , third] = sockets as [Socket, Socket, Socket];
    await once(third, 'data');
    third.write('GET / HTTP/1.1\r\nHo');
    const closing = Promise.all(sockets.map(ended));
    for (let n = 0; n < 20; n++) expect((await ask(port, '/', { host: 'shop.sites.test' })).status).toBe(200);
    for (const at of await closing) expect(at - began).toBeLessThan(20_000);
  });

  test('when 500 connections stay open', async () => {
    const sockets = Array.from({ length: 500 }, () => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`GET / HTTP/1.1\r\n${shop}`));
      return socket.on('error', () => {}).resume();
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    expect((await ask(port, '/', { host: 'shop.sites.test' })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });
});
