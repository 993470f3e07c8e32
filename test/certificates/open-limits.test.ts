/**
 * What the visitors of one network hold at a time in an edge: streams of HTTP/2, and large files.
 * @module-tag pebble
 * @module-tag powerdns
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { baseDomain, type CertificateFixture, createFixture } from './fixture.ts';
import { giveCertificate } from './given.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { openFilesOf } from './open-files.ts';
import { askStream, openSession, type Visit, visit } from './visit.ts';

let fixture: CertificateFixture;
let issuer: Issuer;
const host = `big.${baseDomain}`;
const large = Buffer.alloc(3 * 1024 * 1024, 'a line of a large file\n');

beforeAll(async () => {
  fixture = await createFixture();
  issuer = await createIssuer(new Date());
  await giveCertificate(fixture, issuer, { name: `*.${baseDomain}` });
  await fixture.publish('big', { 'large.txt': large, 'index.html': 'small' });
});
afterAll(() => fixture?.close());

async function openEdge(streams: number, bodies: { each: number; all: number }) {
  const openLimits = { streams: { each: streams, all: 1_000 }, bodies };
  const edge = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 }, openLimits });
  const from = (n: number) => ({ port: edge.tlsPort, host, root: issuer.root, localAddress: `127.0.0.${n}` });
  return { from, close: edge.close };
}

type Session = Awaited<ReturnType<typeof openSession>>;

/** Streams of which nothing more is read after their headers. */
async function stall(session: Session, count: number) {
  const streams = Array.from({ length: count }, () => {
    const stream = session.request({ ':path': '/large.txt', ':authority': host });
    stream.on('error', () => {});
    return stream.pause();
  });
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('response', resolve))));
  return streams;
}

test('a stream beyond the share of its network is refused, on any connection', async () => {
  const { from, close } = await openEdge(4, { each: 10, all: 10 });
  const [one, two, stranger] = [await openSession(from(1)), await openSession(from(1)), await openSession(from(2))];
  const [held] = [await stall(one, 3), await stall(two, 1)];
  // However often: it is not the connection's fault.
  for (let n = 0; n < 120; n++) await expect(askStream(two, '/', { host })).rejects.toThrow('NGHTTP2_REFUSED_STREAM');
  expect((await askStream(stranger, '/', { host })).status).toBe(200);
  held[0]?.close();
  await expect
    .poll(() => askStream(two, '/', { host }).catch(() => ({ status: 0 })), { timeout: 10_000 })
    .toMatchObject({ status: 200 });
  for (const session of [one, two, stranger]) session.destroy();
  await close();
});

test('a large file beyond the share is refused with 503, over both versions', async () => {
  const { from, close } = await openEdge(100, { each: 3, all: 4 });
  const session = await openSession(from(1));
  const held = await stall(session, 3);
  const busy = (answer: Visit) => [answer.status, answer.headers['retry-after'], answer.text.includes('try again')];
  expect(busy(await askStream(session, '/large.txt', { host }))).toEqual([503, '5', false]);
  expect((await visit('/large.txt', from(1))).status).toBe(503);
  expect((await askStream(session, '/', { host })).text).toBe('small');

  // The last place is another network's; a third network gets one of those that the first has.
  const second = await openSession(from(2));
  const [stalled] = await stall(second, 1);
  expect((await visit('/large.txt', from(3))).body.length).toBe(large.length);
  await expect.poll(() => held.filter(({ closed }) => closed).length, { timeout: 10_000 }).toBe(1);
  expect(stalled?.closed).toBe(false);
  session.destroy();
  second.destroy();
  await expect.poll(() => openFilesOf(join(fixture.dir, 'store')), { timeout: 10_000 }).toEqual([]);
  await close();
});
