/**
 * HTTP/2 on the edge: the same responses as HTTP/1.1, with limits on memory and time.
 * @module-tag pebble
 * @module-tag powerdns
 */
import { execFile } from 'node:child_process';
import { constants } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createShops } from '#test/edge/shops.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { baseDomain, type CertificateFixture, createFixture } from './fixture.ts';
import { giveCertificate } from './given.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { openFilesOf } from './open-files.ts';
import { askStream, openSession, type Visit, visit } from './visit.ts';

let fixture: CertificateFixture;
let edge: Awaited<ReturnType<CertificateFixture['openTlsEdge']>>;
let issuer: Issuer;
const host = `shop.${baseDomain}`;
const trip = (at = host) => ({ port: edge.tlsPort, host: at, root: issuer.root });
const large = Buffer.alloc(3 * 1024 * 1024, 'a line of a large file\n');
const wide = large.subarray(0, 900_000);

beforeAll(async () => {
  fixture = await createFixture({ edgeFixture: createShops });
  issuer = await createIssuer(new Date());
  await giveCertificate(fixture, issuer, { name: `*.${baseDomain}` });
  await fixture.publish('big', { 'large.txt': large, 'large.bin': large, 'wide.txt': wide, 'index.html': 'x' });
  edge = await fixture.openTlsEdge();
});
afterAll(() => fixture?.close());

const openFiles = () => openFilesOf(join(fixture.dir, 'store'));

const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', ':status']);
const seen = ({ status, headers, text }: Visit) => ({
  status,
  text,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name))),
});

const etag = async (path: string) => (await visit(path, trip())).headers.etag ?? '';
const requests: { path: string; at?: string; method?: string; headers?: () => Promise<Record<string, string>> }[] = [
  ...[
    '/',
    '/about',
    '/about/',
    '/blog',
    '/blog/first',
    '/missing',
    '/missing.txt',
    '/data.json',
    '/a%20b/100%25%20(true)/',
    '/%',
  ].map((path) => ({ path })),
  { path: '/_astro/index.DxY3_a1b.css' },
  // Every character of a target, in the redirect's address.
  { path: `/about/?${String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 33 + n)).replace('#', '')}` },
  { path: '/long', headers: async () => ({ 'accept-encoding': 'br' }) },
  { path: '/long', headers: async () => ({ 'accept-encoding': 'gzip, identity;q=0' }) },
  { path: '/long', method: 'HEAD' },
  { path: '/long', headers: async () => ({ range: 'bytes=10-19' }) },
  { path: '/long', headers: async () => ({ range: 'bytes=999999-' }) },
  { path: '/long', headers: async () => ({ range: 'bytes=0-4', 'if-range': await etag('/long') }) },
  { path: '/long', headers: async () => ({ 'if-none-match': await etag('/long') }) },
  { path: '/long', headers: async () => ({ 'if-match': '"another"' }) },
  { path: '/', method: 'POST' },
  { path: '/', at: `soon.${baseDomain}` },
  { path: '/', at: `closed.${baseDomain}` },
  { path: '/', at: `nobody.${baseDomain}` },
  { path: '/', at: baseDomain },
  { path: '/large.txt', at: `big.${baseDomain}` },
  { path: '/large.bin', at: `big.${baseDomain}`, headers: async () => ({ range: 'bytes=1048570-2097160' }) },
  { path: '/.frontage/leave?to=/about' },
  { path: '/.well-known/acme-challenge/a-token-that-nobody-has-put-up' },
];
test.each(requests)(
  '$method $path $at returns the same over both versions',
  async ({ path, at = host, method = 'GET', headers }) => {
    const fields = (await headers?.()) ?? {};
    const session = await openSession(trip(at));
    const [one, other] = await Promise.all([
      visit(path, { ...trip(at), method, headers: fields }),
      askStream(session, path, { host: at, method, headers: fields }),
    ]);
    session.close();
    expect(seen(other)).toEqual(seen(one));
  },
);

test('streams of one session are answered in parallel, each with its own page', async () => {
  const session = await openSession(trip());
  const paths = Array.from({ length: 90 }, (_, n) => ['/', '/about', '/blog', '/long'][n % 4] as string);
  const answers = await Promise.all(paths.map((path) => askStream(session, path, { host })));
  const plain = new Map(
    await Promise.all(
      ['/', '/about', '/blog', '/long'].map(async (path) => [path, (await visit(path, trip())).text] as const),
    ),
  );
  expect(answers.map(({ text }) => text)).toEqual(paths.map((path) => plain.get(path)));
  session.close();
});

test('fields that exceed the table of the compression are read correctly', async () => {
  const session = await openSession(trip());
  for (let n = 0; n < 40; n++) {
    const headers = {
      [`x-name-${n % 7}`]: String(n).repeat(150),
      'if-none-match': n % 2 ? await etag('/') : '"other"',
    };
    expect((await askStream(session, '/', { host, headers })).status).toBe(n % 2 ? 304 : 200);
  }
  session.close();
});

test('files in memory arrive whole through the client’s windows, beside each other', async () => {
  const session = await openSession(trip(`big.${baseDomain}`));
  const answers = Array.from({ length: 20 }, () => askStream(session, '/wide.txt', { host: `big.${baseDomain}` }));
  for (const { body } of await Promise.all(answers)) expect(body.equals(wide)).toBe(true);
  session.close();
});

test('a page is counted as over HTTP/1.1, with the stream’s authority as its host', async () => {
  const session = await openSession(trip());
  const lying = await askStream(session, '/', { host, headers: { host: `bare.${baseDomain}` } });
  expect(lying.status).toBe(400);
  // A connection for one host of the wildcard may be used for another (RFC 9113 section 9.1.1).
  expect((await askStream(session, '/', { host: `bare.${baseDomain}` })).text).toContain('Bare');
  session.close();
});

describe('a client that abuses a session loses it', () => {
  const closed = (session: Awaited<ReturnType<typeof openSession>>) =>
    new Promise<void>((resolve) => session.once('close', () => resolve()));

  test('with too many headers: its stream is refused, and other sessions continue', async () => {
    const session = await openSession(trip());
    session.on('error', () => {});
    const flood = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`x-filler-${n}`, 'y'.repeat(1_000)]));
    const answer = await askStream(session, '/', { host, headers: flood }).catch((error: Error) => error);
    expect(answer instanceof Error || (answer as Visit).status >= 400).toBe(true);
    const next = await openSession(trip());
    expect((await askStream(next, '/', { host })).status).toBe(200);
    next.close();
    session.destroy();
  });

  test('rapid resets close the session and its open files', async () => {
    const session = await openSession(trip());
    session.on('error', () => {});
    const over = closed(session);
    for (let round = 0; round < 60 && !session.destroyed && !session.closed; round++) {
      const streams = Array.from({ length: 20 }, () =>
        session.request({ ':path': '/large.bin', ':authority': `big.${baseDomain}` }),
      );
      for (const stream of streams) stream.on('error', () => {});
      await pause(10);
      for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
      await pause(5);
    }
    await over;
    expect((await visit('/', trip())).status).toBe(200);
    // None of the files that were opened for him stays open.
    await expect.poll(openFiles).toEqual([]);
  });

  test('a client that reads nothing holds no more than its flow-control windows', async () => {
    const before = process.memoryUsage();
    const session = await openSession(trip(`big.${baseDomain}`));
    const streams = Array.from({ length: 50 }, () => {
      const stream = session.request({ ':path': '/large.bin', ':authority': `big.${baseDomain}` });
      stream.on('error', () => {});
      return stream.pause();
    });
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('response', resolve))));
    await pause(300);
    const { external, arrayBuffers } = process.memoryUsage();
    // 50 × 3 MiB would be 150.
    expect(external + arrayBuffers - before.external - before.arrayBuffers).toBeLessThan(64 * 1024 * 1024);
    expect((await visit('/', trip())).status).toBe(200);
    session.destroy();
  });
});

test('an edge that stops lets sessions finish their streams', async () => {
  const other = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 } });
  const session = await openSession({ ...trip(`big.${baseDomain}`), port: other.tlsPort });
  const asked = askStream(session, '/large.txt', { host: `big.${baseDomain}` });
  await pause(20);
  const ended = other.close();
  expect((await asked).body.length).toBe(large.length);
  await ended;
});

test('h2spec finds no faults', { tags: 'h2spec', timeout: 120_000 }, async () => {
  const h2spec = await pathOf('h2spec');
  // It asks for `localhost`, which no certificate of the edge's can be for.
  const other = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 }, shownToAll: baseDomain });
  const args = ['-t', '-k', '-h', 'localhost', '-p', String(other.tlsPort), '-o', '2'];
  const run = async () => {
    const { stdout } = await promisify(execFile)(h2spec as string, args, { maxBuffer: 16 * 1024 * 1024 }).catch(
      (error) => error,
    );
    expect(stdout).toMatch(/\d+ tests, \d+ passed/);
    return Array.from(String(stdout).matchAll(/× \d+: (.*)/g), ([, name = '']) => name);
  };
  let failed = await run();
  // It waits two seconds for an answer: what a busy machine kept from it is asked for again.
  for (let more = 0; failed.length > 0 && more < 2; more++) {
    const again = await run();
    failed = failed.filter((name) => again.includes(name));
  }
  expect(failed).toEqual([]);
});
