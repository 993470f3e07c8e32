/** Paths and requests that mean harm. Whatever is sent, the answer is a file of this version or a refusal. */
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readTarget } from '#edge/routing/paths.ts';
import { ask, askRaw, type Fixture } from './fixture.ts';
import { absent, brokenEscapes, climbs, controls } from './hostile-paths.ts';
import { createShops } from './shops.ts';

const secret = 'kept-beside-the-store';
let fixture: Fixture;
let port: number;

beforeAll(async () => {
  fixture = await createShops();
  // What an escape from the store would find.
  await writeFile(join(fixture.dir, 'secret.txt'), secret);
  await mkdir(join(fixture.dir, 'store', 'sha256'), { recursive: true });
  await writeFile(join(fixture.dir, 'store', 'secret.txt'), secret);
  ({ port } = await fixture.openEdge());
});
afterAll(() => fixture?.close());

async function raw(path: string) {
  const request = `GET ${path} HTTP/1.1\r\nHost: shop.sites.test\r\nConnection: close\r\n\r\n`;
  const reply = await askRaw(port, request);
  const [head = '', ...rest] = reply.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body: rest.join('\r\n\r\n') };
}

function expectRefusal(answer: { status: number; head: string; body: string }, statuses: number[]): void {
  expect(statuses).toContain(answer.status);
  expect(answer.head).not.toMatch(/^(location|set-cookie):/im);
  expect(answer.body).not.toContain(secret);
  expect(answer.body).not.toContain(fixture.dir);
}

test('the lists have more than 150 paths without duplicates', () => {
  const all = [...climbs, ...brokenEscapes, ...controls, ...absent];
  expect(all.length).toBeGreaterThan(150);
  expect(new Set(all).size).toBe(all.length);
});

describe('a path that climbs, or hides a separator, is refused', () => {
  test.each(climbs)('%s', async (path) => expectRefusal(await raw(path), [400]));
});

describe('an invalid or non-UTF-8 escape is refused', () => {
  test.each(brokenEscapes)('%s', async (path) => expectRefusal(await raw(path), [400]));
});

describe('a control character is refused', () => {
  test.each(controls)('%s', async (path) => expectRefusal(await raw(path), [400]));
});

describe('a path that only resembles a file is not found', () => {
  test.each(absent)('%s', async (path) => expectRefusal(await raw(path), [404]));
});

test('raw bytes outside ASCII are refused', async () => {
  for (const path of ['/caf\xc3\xa9/men\xc3\xbc', '/\xc0\xae', '/\xff']) expectRefusal(await raw(path), [400]);
});

test('no path causes a fault or reveals another file', async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '.',
      '..',
      '/',
      '//',
      '%2e',
      '%2f',
      '%5c',
      '%00',
      '%',
      'index.html',
      'about',
      'blog',
      '404',
      '?',
      '%c3%a9',
    ),
    fc.string({ unit: 'binary-ascii', maxLength: 5 }),
  );
  const paths = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('')}`);
  let read = 0;
  fc.assert(
    fc.property(paths, (path) => {
      const target = readTarget(path);
      if (target === undefined) return;
      read += 1;
      expect(target.path).not.toMatch(/(^|\/)\.\.?(\/|$)|\\|\p{Cc}/u);
      expect(new URL(`http://x/${target.path.replaceAll('%', '%25')}`).host).toBe('x');
    }),
    { numRuns: 20_000 },
  );
  expect(read).toBeGreaterThan(1_000);
  await fc.assert(
    fc.asyncProperty(
      paths.filter((path) => /^[\x21-\x7e]*$/.test(path)),
      async (path) => {
        const { status } = await ask(port, path, { host: 'shop.sites.test' });
        expect([200, 308, 400, 404]).toContain(status);
      },
    ),
    { numRuns: 300 },
  );
});

describe('a request that is not HTTP is refused, and the next visitor is served', () => {
  const fields = 'Host: shop.sites.test\r\n';
  test.each([
    ['not HTTP', 'hello\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['HTTP/2 without a word', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown version', `GET / HTTP/9.9\r\n${fields}\r\n`],
    ['a target without a slash', `GET about HTTP/1.1\r\n${fields}\r\n`],
    ['a target with another scheme', `GET ftp://shop.sites.test/ HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`],
    ['an absolute target with a user', `GET http://a@shop.sites.test/ HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`],
    ['two lengths', `GET / HTTP/1.1\r\n${fields}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    [
      'a length and chunks',
      `GET / HTTP/1.1\r\n${fields}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a folded field', `GET / HTTP/1.1\r\n${fields}A: b\r\n c\r\nHost : x\r\n\r\n`],
    ['a space before the colon', `GET / HTTP/1.1\r\nHost : shop.sites.test\r\n\r\n`],
    ['bare line feeds in a field', `GET / HTTP/1.1\r\n${fields}A: b\nHost: evil.test\r\nConnection: close\r\n\r\n`],
    ['a NUL in a field', `GET / HTTP/1.1\r\n${fields}A: \0\r\n\r\n`],
    ['fields beyond 16 KiB', `GET / HTTP/1.1\r\n${fields}A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a target beyond 16 KiB', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${fields}\r\n`],
  ])('%s', async (_what, request) => {
    expect(await askRaw(port, request)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect((await ask(port, '/', { host: 'shop.sites.test' })).status).toBe(200);
  });

  test('CONNECT opens no tunnel', async () => {
    const reply = await askRaw(
      port,
      `CONNECT shop.sites.test:80 HTTP/1.1\r\n${fields}\r\nGET / HTTP/1.1\r\n${fields}\r\n`,
    );
    expect(reply).not.toMatch(/^HTTP\/1\.1 2/);
  });

  test('an upgrade is ignored', async () => {
    const reply = await askRaw(port, `GET / HTTP/1.1\r\n${fields}Connection: upgrade, close\r\nUpgrade: h2c\r\n\r\n`);
    expect(reply).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test('a client that never ends its request is cut off', async () => {
  const began = performance.now();
  const reply = await new Promise<string>((resolve) => {
    let got = '';
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: shop.sites.test\r\n'));
    const drip = setInterval(() => socket.write('A: b\r\n'), 500);
    socket.on('data', (chunk) => (got += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(drip);
      resolve(got);
    });
  });
  expect(reply).toMatch(/^HTTP\/1\.1 408 /);
  expect(performance.now() - began).toBeLessThan(15_000);
});
