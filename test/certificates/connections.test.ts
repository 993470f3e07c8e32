/**
 * Hostile TLS connections: hosts without this certificate, smuggled requests, and slow clients.
 * @module-tag pebble
 * @module-tag powerdns
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createShops, page } from '#test/edge/shops.ts';
import { shop, smuggled, smuggling } from '#test/edge/smuggled.ts';
import { baseDomain, type CertificateFixture, createFixture } from './fixture.ts';
import { giveCertificate } from './given.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { openFilesOf } from './open-files.ts';
import { askStream, openSession, shake, visit } from './visit.ts';

let fixture: CertificateFixture;
let edge: Awaited<ReturnType<CertificateFixture['openTlsEdge']>>;
let issuer: Issuer;
/** More than the machine’s own buffers of a connection take. */
const huge = Buffer.alloc(24 * 1024 * 1024, 'a line of a large file\n');
const trip = (host: string) => ({ port: edge.tlsPort, host, root: issuer.root });

beforeAll(async () => {
  fixture = await createFixture({ edgeFixture: createShops });
  issuer = await createIssuer(new Date());
  await giveCertificate(fixture, issuer, { name: `*.${baseDomain}` });
  for (const name of ['mine', 'theirs']) {
    const { siteId } = await fixture.publish(name, { 'index.html': page(name) });
    const domainId = await fixture.addDomain(`${name}.test`, { siteId, isPrimary: true });
    await giveCertificate(fixture, issuer, { name: `${name}.test`, domainId });
  }
  await fixture.publish('huge', { 'index.html': page('huge'), 'huge.bin': huge });
  edge = await fixture.openTlsEdge();
});
afterAll(() => fixture?.close());

/** What comes back for these bytes on a connection that was opened for this host, until it ends. */
async function askRaw(servername: string, bytes: string): Promise<string> {
  const socket = await shake({ port: edge.tlsPort, servername, ca: issuer.root });
  socket.on('error', () => {});
  let got = '';
  socket.on('data', (chunk) => (got += chunk.toString('latin1')));
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return got;
}
const asking = (target: string, host: string, more = '') =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;

describe('a host outside the shown certificate is misdirected, and reveals nothing of its site', () => {
  const cases: [string, string, string][] = [
    ['an owner’s host, over another owner’s connection', 'mine.test', asking('/', 'theirs.test')],
    ['an owner’s host on the fast path', 'mine.test', 'GET / HTTP/1.1\r\nHost: theirs.test\r\n\r\n'],
    ['a host in capitals, with port and dot', 'mine.test', asking('/', 'THEIRS.test.:443')],
    ['an absolute target beside the right Host', 'mine.test', asking('https://theirs.test/', 'mine.test')],
    ['our host, over an owner’s connection', 'mine.test', asking('/', `shop.${baseDomain}`)],
    ['an owner’s host, over our connection', `shop.${baseDomain}`, asking('/', 'theirs.test')],
    ['a host two levels below ours', `shop.${baseDomain}`, asking('/', `a.shop.${baseDomain}`)],
    ['an unknown host', 'mine.test', asking('/', 'nobody.test')],
    ['an address', 'mine.test', asking('/', '127.0.0.1')],
    ['a challenge’s path', 'mine.test', asking(`/.well-known/acme-challenge/${'x'.repeat(20)}`, 'theirs.test')],
    ['a POST', 'mine.test', asking('/', 'theirs.test').replace('GET', 'POST')],
    ['a review link’s path', 'mine.test', asking('/.frontage/review?site=x', 'theirs.test')],
  ];
  test.each(cases)('%s', async (_what, servername, request) => {
    const socket = await shake({ port: edge.tlsPort, servername, ca: issuer.root });
    const head = once(socket, 'data').then(([chunk]) => String(chunk));
    socket.write(request);
    expect(await head).toMatch(/^HTTP\/1\.1 421 Misdirected Request\r\n/);
    expect(await head).not.toMatch(/theirs|location:|set-cookie:/i);
    socket.destroy();
  });

  test('over HTTP/2 the stream of a reused connection is refused, and the session continues', async () => {
    const session = await openSession(trip('mine.test'));
    expect((await askStream(session, '/', { host: 'mine.test' })).text).toContain('mine');
    for (const host of ['theirs.test', `shop.${baseDomain}`, 'nobody.test']) {
      expect(await askStream(session, '/', { host })).toMatchObject({ status: 421 });
    }
    expect((await askStream(session, '/', { host: 'mine.test' })).status).toBe(200);
    session.close();
  });

  test('a resumed connection refuses such a host too', async () => {
    const to = { port: edge.tlsPort, ca: issuer.root, servername: 'mine.test', maxVersion: 'TLSv1.2' } as const;
    const first = await shake(to);
    const session = first.getSession() as Buffer;
    first.destroy();
    const again = await shake({ ...to, session });
    expect(again.isSessionReused()).toBe(true);
    again.write(asking('/', 'theirs.test'));
    expect(String((await once(again, 'data'))[0])).toMatch(/^HTTP\/1\.1 421 /);
  });

  test('hosts of one certificate share a connection, in any letter case', async () => {
    expect(await askRaw(`shop.${baseDomain}`, asking('/', `bare.${baseDomain}`))).toMatch(
      /^HTTP\/1\.1 200 [\s\S]*Bare/,
    );
    expect(await askRaw('mine.test', asking('/', 'MINE.test:443'))).toMatch(/^HTTP\/1\.1 200 [\s\S]*mine/);
    expect(await askRaw('MINE.test', asking('https://mine.test/', 'theirs.test'))).toMatch(
      /^HTTP\/1\.1 200 [\s\S]*mine/,
    );
  });
});

describe('a body over TLS is never read as a request', () => {
  test.each(smuggling)('%s', async (_how, rest) => {
    for (const method of ['GET', 'POST']) {
      const reply = await askRaw(`shop.${baseDomain}`, `${method} / HTTP/1.1\r\n${shop}${rest}`);
      expect(reply.match(/HTTP\/1\.1 \d/g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(reply).not.toContain('<title>About</title>');
    }
  });

  test.each([
    ['two hosts', `GET / HTTP/1.1\r\nHost: mine.test\r\nHost: theirs.test\r\nConnection: close\r\n\r\n`],
    ['the same host twice', `GET / HTTP/1.1\r\nHost: mine.test\r\nhost: mine.test\r\nConnection: close\r\n\r\n`],
    ['no host', `GET / HTTP/1.1\r\nConnection: close\r\n\r\n`],
    ['a folded host', `GET / HTTP/1.1\r\nHost: mine.test\r\n .theirs.test\r\nConnection: close\r\n\r\n`],
    [
      'a folded field before another host',
      `GET / HTTP/1.1\r\nHost: mine.test\r\nA: b\r\n c\r\nHost: theirs.test\r\n\r\n`,
    ],
    ['an absolute target with a user', asking('https://mine.test@theirs.test/', 'mine.test')],
    ['a target of another scheme', asking('ftp://mine.test/', 'mine.test')],
  ])('%s is refused', async (_how, request) => {
    expect(await askRaw('mine.test', request)).toMatch(/^HTTP\/1\.1 4(00|21) /);
  });

  test('over HTTP/2 longer bodies than announced and line breaks in fields are refused', async () => {
    const session = await openSession(trip(`shop.${baseDomain}`));
    session.on('error', () => {});
    const host = `shop.${baseDomain}`;
    const stream = session.request({ ':path': '/', ':method': 'POST', ':authority': host, 'content-length': '5' });
    stream.on('error', () => {});
    const answered = once(stream, 'response').then(
      ([fields]) => fields[':status'],
      () => 'reset',
    );
    stream.end(smuggled);
    expect([405, 400, 'reset']).toContain(await answered);
    for (const path of [`/\r\nHost: theirs.test`, '/ HTTP/1.1']) {
      const reply = await askStream(session, path, { host }).catch((error: Error) => error);
      expect(reply instanceof Error ? 400 : reply.status).toBe(400);
    }
    session.destroy();
  });
});

describe('slow clients', () => {
  const raw = (port: number, bytes = '') => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    return socket.on('error', () => {}).resume();
  };

  test('receive their response after a half-close, and hold nothing after a disconnect', async () => {
    const other = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 } });
    const to = { port: other.tlsPort, servername: 'mine.test', ca: issuer.root };
    for (const way of ['', 'TE: trailers\r\n']) {
      const asking = await shake({ ...to, allowHalfOpen: true });
      let got = '';
      asking.on('data', (chunk) => (got += chunk));
      asking.end(`GET / HTTP/1.1\r\nHost: mine.test\r\n${way}\r\n`);
      await once(asking, 'close');
      expect(got).toMatch(/^HTTP\/1\.1 200 [\s\S]*mine/);
    }
    for (let n = 0; n < 20; n++) (await shake(to)).destroy();
    const began = performance.now();
    await other.close();
    // The patience with handshakes, and with what is finished at an end, is 10 s.
    expect(performance.now() - began).toBeLessThan(9_500);
  });

  test('1,000 unfinished handshakes are cut off, and a visitor is served meanwhile', {
    timeout: 60_000,
  }, async () => {
    const slow = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 }, patience: { handshakeMs: 4_000 } });
    const hello = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';
    const sockets: Socket[] = Array.from({ length: 1_000 }, (_, n) => raw(slow.tlsPort, n % 2 ? hello : ''));
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    await Promise.all(sockets.map((socket) => (socket.connecting ? once(socket, 'connect') : undefined)));
    expect((await visit('/', { ...trip('mine.test'), port: slow.tlsPort })).text).toContain('mine');
    expect(sockets.every(({ destroyed }) => !destroyed)).toBe(true);
    await closed;
    expect((await visit('/', { ...trip('mine.test'), port: slow.tlsPort })).status).toBe(200);
  });

  test('clients that read nothing hold little memory, and both HTTP versions disconnect them', {
    timeout: 60_000,
  }, async () => {
    const patience = { stalledMs: 1_500 };
    const impatient = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 }, patience });
    const port = impatient.tlsPort;
    const host = `huge.${baseDomain}`;
    const { arrayBuffers, external } = process.memoryUsage();
    const read: number[] = [];
    const takeNothing = (from: Duplex) => {
      const at = read.push(0) - 1;
      from.on('data', (chunk: Buffer) => (read[at] = (read[at] ?? 0) + chunk.length));
      return from.on('error', () => {}).pause();
    };
    const sockets = await Promise.all(
      Array.from({ length: 20 }, () => shake({ port, servername: host, ca: issuer.root })),
    );
    for (const socket of sockets) takeNothing(socket).write(`GET /huge.bin HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const session = await openSession({ ...trip(host), port });
    session.on('error', () => {});
    const streams = Array.from({ length: 10 }, () =>
      takeNothing(session.request({ ':path': '/huge.bin', ':authority': host })),
    );
    await pause(500);
    const now = process.memoryUsage();
    // 30 × 24 MiB would be 720; what the machine itself holds of a connection is not counted, what is garbage by now is.
    expect(now.external + now.arrayBuffers - external - arrayBuffers).toBeLessThan(200 * 1024 * 1024);
    expect((await visit('/', { ...trip('mine.test'), port })).status).toBe(200);
    // What had come before is read, and then the end: not the whole file.
    await expect.poll(() => openFilesOf(join(fixture.dir, 'store')), { timeout: 30_000 }).toEqual([]);
    for (const one of [...sockets, ...streams]) if (!one.resume().closed) await once(one, 'close');
    expect(read.length).toBe(30);
    expect(Math.max(...read)).toBeLessThan(huge.length);
    session.destroy();
  });
});
