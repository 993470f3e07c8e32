/**
 * HTTP/2 with clients that read slowly, late or nothing, and at the end of a connection.
 * @module-tag pebble
 * @module-tag powerdns
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { stat, truncate } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorCode, flag, frameType, numbersFrame, settingsFrame } from '#edge/http/http2/frames.ts';
import { encodeHead } from '#edge/http/http2/hpack.ts';
import { blobPath } from '#providers/store/disk.ts';
import { baseDomain, type CertificateFixture, createFixture } from './fixture.ts';
import { giveCertificate } from './given.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { block, frame, openRaw, wholeRequest, wideOpen } from './raw-http2.ts';
import { askStream, openSession } from './visit.ts';

let fixture: CertificateFixture;
let edge: Awaited<ReturnType<CertificateFixture['openTlsEdge']>>;
let issuer: Issuer;
const host = `big.${baseDomain}`;
const trip = (port = edge.tlsPort) => ({ port, host, root: issuer.root });
const wide = Buffer.alloc(900_000, 'a line of a wide file\n');
const torn = Buffer.alloc(2_000_000, 'a line of a torn file\n');
const ids = (count: number) => Array.from({ length: count }, (_, n) => 2 * n + 1);
const { data, headers, ping, resetStream, settings, windowUpdate, goAway } = frameType;

beforeAll(async () => {
  fixture = await createFixture();
  issuer = await createIssuer(new Date());
  await giveCertificate(fixture, issuer, { name: `*.${baseDomain}` });
  await fixture.publish('big', { 'wide.txt': wide, 'torn.bin': torn, 'index.html': 'small' });
  edge = await fixture.openTlsEdge();
});
afterAll(() => fixture?.close());

test('a client whose table of header fields is empty reads the responses', async () => {
  const session = await openSession(trip(), { headerTableSize: 0 });
  await once(session, 'localSettings');
  for (let n = 0; n < 2; n++) expect((await askStream(session, '/', { host })).text).toBe('small');
  session.close();
});

test('a cached head keeps no more than its own bytes in memory', () => {
  const head = encodeHead({ status: 200, fields: ['content-type', 'text/plain'] });
  expect(head.buffer.byteLength).toBe(head.length);
});

test('the connection’s window returns for all bytes of bodies, read or not', async () => {
  const client = await openRaw(trip());
  const part = frame(data, 0, 1, Buffer.alloc(16_384));
  for (const id of ids(8)) {
    client.send(frame(headers, flag.endHeaders, id, block('/', host, [], 'POST')));
    part.writeUInt32BE(id, 5);
    client.send(part, part, part);
    await client.receive(resetStream, id);
  }
  const returned = () => client.of(windowUpdate, 0).reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
  await expect.poll(returned).toBe(8 * 3 * 16_384);
  expect(client.statuses()).toEqual(Array(8).fill(405));
  client.socket.destroy();
});

test('frames are read and answered while large responses wait for their client', async () => {
  const client = await openRaw(trip(), wideOpen);
  await client.receive(settings, 0);
  client.socket.pause();
  for (const id of ids(60)) client.ask(id, '/wide.txt');
  await pause(300);
  client.send(frame(ping, 0, 0, '8 bytes.'));
  client.ask(201, '/');
  client.socket.resume();
  await expect.poll(() => client.bodyBytes(), { timeout: 20_000 }).toBe(60 * wide.length + 5);
  const after = (type: number, id: number) =>
    client.frames
      .slice(client.frames.findIndex((one) => one.type === type && one.id === id))
      .reduce((sum, { type: of, payload }) => sum + (of === data ? payload.length : 0), 0);
  // The machine's own buffers of the connection come first.
  expect(after(ping, 0)).toBeGreaterThan(20 * wide.length);
  expect(after(headers, 201)).toBeGreaterThan(20 * wide.length);
  client.socket.destroy();
}, 30_000);

test('each of many responses advances before the first ends', async () => {
  const client = await openRaw(trip(), wideOpen);
  await client.receive(settings, 0);
  client.send(...ids(30).map((id) => frame(headers, wholeRequest, id, block('/wide.txt', host))));
  const isLast = ({ type, flags }: { type: number; flags: number }) => type === data && (flags & flag.endStream) !== 0;
  await expect.poll(() => client.frames.filter(isLast).length, { timeout: 10_000 }).toBe(30);
  const before = client.frames.slice(0, client.frames.findIndex(isLast));
  expect(new Set(before.filter(({ type }) => type === data).map(({ id }) => id)).size).toBe(30);
  client.socket.destroy();
});

test('thousands of requests of a client that reads nothing are answered once it reads', async () => {
  const client = await openRaw(trip());
  await client.receive(settings, 0);
  client.socket.pause();
  const one = frame(headers, wholeRequest, 1, block('/', host, [], 'HEAD'));
  const many = Array.from({ length: 20_000 }, (_, n) => {
    one.writeUInt32BE(2 * n + 1, 5);
    return Buffer.from(one);
  });
  client.send(...many);
  await pause(300);
  client.socket.resume();
  await expect.poll(() => client.of(headers).length, { timeout: 20_000 }).toBe(20_000);
  client.socket.destroy();
}, 30_000);

test('windows that shrink below zero and grow by bytes give the whole file', async () => {
  const client = await openRaw(trip());
  client.ask(1, '/wide.txt');
  await expect.poll(() => client.bodyBytes()).toBe(65_535);
  client.send(
    settingsFrame([[4, 0]]),
    numbersFrame(windowUpdate, 0, 10_000_000),
    numbersFrame(windowUpdate, 1, 65_535),
  );
  client.send(...Array.from({ length: 100 }, () => numbersFrame(windowUpdate, 1, 1)), frame(ping, 0, 0, '8 bytes.'));
  await client.receive(ping, 0);
  await expect.poll(() => client.bodyBytes()).toBe(65_535 + 100);
  client.send(settingsFrame([[4, 1_000_000]]));
  await expect.poll(() => client.bodyBytes(), { timeout: 10_000 }).toBe(wide.length);
  expect(Buffer.concat(client.of(data).map(({ payload }) => payload)).equals(wide)).toBe(true);
  client.socket.destroy();
});

test('a connection whose client reads nothing is closed', async () => {
  const impatient = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 }, patience: { stalledMs: 1_000 } });
  const client = await openRaw(trip(impatient.tlsPort), wideOpen);
  await client.receive(settings, 0);
  client.socket.pause();
  for (const id of ids(60)) client.ask(id, '/wide.txt');
  // A write shows whether the other end is open.
  const pinging = setInterval(() => client.send(frame(ping, 0, 0, '8 bytes.')), 100);
  await client.closed;
  clearInterval(pinging);
  await impatient.close();
}, 15_000);

test('an edge that stops answers open streams whole, and none after its GOAWAY', async () => {
  const other = await fixture.openTlsEdge({ ports: { http: 0, tls: 0 } });
  const client = await openRaw(trip(other.tlsPort), wideOpen);
  await client.receive(settings, 0);
  client.send(frame(headers, flag.endHeaders, 1, block('/wide.txt', host)));
  client.send(frame(ping, 0, 0, '8 bytes.'));
  await client.receive(ping, 0);
  const closing = other.close();
  const last = await client.receive(goAway, 0);
  expect([last.payload.readUInt32BE(0), last.payload.readUInt32BE(4)]).toEqual([1, errorCode.none]);
  client.socket.pause();
  client.ask(3, '/');
  client.send(frame(data, flag.endStream, 1));
  // The edge has sent all, and what arrives now may not reset the connection.
  for (let n = 0; n < 10; n++) {
    await pause(50);
    client.send(frame(ping, 0, 0, '8 bytes.'));
  }
  client.socket.resume();
  await client.closed;
  await closing;
  expect(client.bodyBytes(1)).toBe(wide.length);
  expect(client.of(data, 1).at(-1)?.flags).toBe(flag.endStream);
  expect(client.of(headers, 3)).toEqual([]);
});

test('a file that ends early resets its stream, and the next is answered', async () => {
  const path = blobPath(`${fixture.dir}/store`, createHash('sha256').update(torn).digest('hex'));
  await truncate(path, (await stat(path)).size - 10);
  const client = await openRaw(trip(), wideOpen);
  client.ask(1, '/torn.bin');
  expect((await client.receive(resetStream, 1)).payload.readUInt32BE(0)).toBe(errorCode.internal);
  expect(client.of(data, 1).some(({ flags }) => flags & flag.endStream)).toBe(false);
  client.ask(3, '/');
  await client.receive(data, 3);
  client.socket.destroy();
});
