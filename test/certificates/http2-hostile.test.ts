/**
 * Invalid and abusive frames of HTTP/2: they end their stream or their connection, and nothing else.
 * @module-tag pebble
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorCode, flag, frameType, numbersFrame, settingsFrame } from '#edge/http/http2/frames.ts';
import { createShops } from '#test/edge/shops.ts';
import { baseDomain, type CertificateFixture, createFixture } from './fixture.ts';
import { giveCertificate } from './given.ts';
import { createIssuer, type Issuer } from './issuer.ts';
import { block, frame, openRaw, preface, wholeRequest } from './raw-http2.ts';
import { visit } from './visit.ts';

let fixture: CertificateFixture;
let edge: Awaited<ReturnType<CertificateFixture['openTlsEdge']>>;
let issuer: Issuer;
const host = `shop.${baseDomain}`;
const trip = () => ({ port: edge.tlsPort, host, root: issuer.root });

beforeAll(async () => {
  fixture = await createFixture({ edgeFixture: createShops });
  issuer = await createIssuer(new Date());
  await giveCertificate(fixture, issuer, { name: `*.${baseDomain}` });
  edge = await fixture.openTlsEdge();
  // From now on in memory, and so sent at once.
  await visit('/', trip());
});
afterAll(() => fixture?.close());

const { headers, continuation, data, settings, resetStream, windowUpdate, ping, pushPromise } = frameType;
const [asked, odd] = [block('/', host), Array.from({ length: 320 }, (_, n) => 2 * n + 1)];
const blockOf = (...bytes: number[]) => frame(headers, wholeRequest, 1, Buffer.from(bytes));
const faults: [string, number, Buffer[]][] = [
  [
    'CONTINUATION without end',
    errorCode.enhanceYourCalm,
    [frame(headers, 0, 1, asked), ...Array.from({ length: 9 }, () => frame(continuation, 0, 1))],
  ],
  [
    'a header block of 48 KiB',
    errorCode.enhanceYourCalm,
    [0, 1, 2].map((n) => frame(n ? continuation : headers, 0, 1, Buffer.alloc(16_384))),
  ],
  [
    'another frame within a header block',
    errorCode.protocol,
    [frame(headers, 0, 1, asked), frame(ping, 0, 0, '8 bytes.')],
  ],
  ['the block of another stream', errorCode.protocol, [frame(headers, 0, 1, asked), frame(continuation, 4, 3)]],
  ['a frame of 16 KiB and a byte', errorCode.frameSize, [frame(data, 0, 1, Buffer.alloc(16_385))]],
  ['an integer without end', errorCode.compression, [blockOf(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f)]],
  ['a string longer than its block', errorCode.compression, [blockOf(0x00, 0x7f, 0xff, 0xff, 0x7f)]],
  ['index 0', errorCode.compression, [blockOf(0x80)]],
  ['an index beyond the tables', errorCode.compression, [blockOf(0x80 | 62)]],
  ['a larger table than ours', errorCode.compression, [blockOf(0x3f, 0xe2, 0x1f)]],
  ['a resized table after fields', errorCode.compression, [blockOf(0x82, 0x20)]],
  ['the Huffman code of the end', errorCode.compression, [blockOf(0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x01, 0x61)]],
  ['a byte of Huffman padding', errorCode.compression, [blockOf(0x00, 0x82, 0x1f, 0xff, 0x01, 0x61)]],
  ['Huffman padding of zeros', errorCode.compression, [blockOf(0x00, 0x81, 0x18, 0x01, 0x61)]],
  ['a stream with an even number', errorCode.protocol, [frame(headers, wholeRequest, 2, asked)]],
  ['a stream number of before', errorCode.streamClosed, [5, 3].map((id) => frame(headers, wholeRequest, id, asked))],
  ['DATA on an idle stream', errorCode.protocol, [frame(data, 1, 1)]],
  ['DATA on a closed stream', errorCode.streamClosed, [frame(headers, wholeRequest, 1, asked), frame(data, 1, 1)]],
  ['a reset of an idle stream', errorCode.protocol, [numbersFrame(resetStream, 1, 8)]],
  ['a pushed stream', errorCode.protocol, [frame(pushPromise, 4, 1, '\0\0\0\x02')]],
  ['more padding than payload', errorCode.protocol, [frame(headers, wholeRequest | flag.padded, 1, '\x05abcd')]],
  ['padding without a length', errorCode.protocol, [frame(headers, wholeRequest | flag.padded, 1)]],
  ['a window of 2^31', errorCode.flowControl, [settingsFrame([[4, 2 ** 31]])]],
  ['a connection’s window beyond 2^31 - 1', errorCode.flowControl, [numbersFrame(windowUpdate, 0, 2 ** 31 - 1)]],
  [
    'a setting that enlarges a stream’s window beyond 2^31 - 1',
    errorCode.flowControl,
    [
      frame(headers, flag.endHeaders, 1, asked),
      numbersFrame(windowUpdate, 1, 2 ** 31 - 1 - 65_535),
      settingsFrame([[4, 65_536]]),
    ],
  ],
  ['SETTINGS of seven bytes', errorCode.frameSize, [frame(settings, 0, 0, '1234567')]],
  ['33 settings', errorCode.enhanceYourCalm, [frame(settings, 0, 0, Buffer.alloc(33 * 6))]],
  [
    'rapid resets (CVE-2023-44487)',
    errorCode.enhanceYourCalm,
    odd.flatMap((id) => [frame(headers, flag.endHeaders, id, asked), numbersFrame(resetStream, id, 8)]),
  ],
  [
    'requests with faults that reset them (CVE-2025-8671)',
    errorCode.enhanceYourCalm,
    odd.flatMap((id) => [frame(headers, flag.endHeaders, id, asked), numbersFrame(windowUpdate, id, 0)]),
  ],
  [
    '101 empty header blocks',
    errorCode.enhanceYourCalm,
    odd.slice(0, 101).map((id) => frame(headers, wholeRequest, id)),
  ],
];

test.each(faults)('%s ends the connection', async (_what, code, frames) => {
  const client = await openRaw(trip());
  client.send(...frames);
  expect(await client.ended()).toBe(code);
});

test.each([
  ['a preface of HTTP/1.1', 'GET / HTTP/1.1\r\nHost: shop\r\n\r\n'],
  ['a first frame that is not SETTINGS', undefined],
])('%s ends the connection', async (_what, first) => {
  const client = await openRaw(trip(), frame(ping, 0, 0, '8 bytes.'), first);
  expect(await client.ended()).toBe(errorCode.protocol);
});

/** A field as any bytes: the encoder of the edge refuses invalid ones. */
const field = (name: string, value: string) =>
  Buffer.from(`\0${String.fromCharCode(name.length)}${name}${String.fromCharCode(value.length)}${value}`, 'latin1');
const malformed: [string, Buffer[]][] = [
  ['connection', [asked, field('connection', 'close')]],
  ['transfer-encoding', [asked, field('transfer-encoding', 'chunked')]],
  ['te', [asked, field('te', 'gzip')]],
  ['a line break in a value', [asked, field('x', 'a\r\nhost: b')]],
  ['NUL in a value', [asked, field('x', 'a\0b')]],
  ['a space before a value', [asked, field('x', ' a')]],
  ['a line break in a name', [asked, field('x\r\ny', 'a')]],
  ['a name in capitals', [asked, field('Host', host)]],
  ['an empty name', [asked, field('', 'a')]],
  ['two paths', [asked, field(':path', '/about')]],
  ['an unknown pseudo-field', [asked, field(':protocol', 'websocket')]],
  ['a pseudo-field after another field', [field('x', 'a'), asked]],
  ['no path', [field(':method', 'GET'), field(':scheme', 'https'), field(':authority', host)]],
  [
    'an empty path',
    [field(':method', 'GET'), field(':scheme', 'https'), field(':path', ''), field(':authority', host)],
  ],
  ['CONNECT', [field(':method', 'CONNECT'), field(':authority', host)]],
  ['a length without a body', [asked, field('content-length', '5')]],
  ['two lengths', [asked, field('content-length', '0'), field('content-length', '0')]],
  ['a signed length', [asked, field('content-length', '+0')]],
];

test.each(malformed)('a request with %s is reset, and the next is answered', async (_what, fields) => {
  const client = await openRaw(trip());
  client.send(frame(headers, wholeRequest, 1, Buffer.concat(fields)));
  expect((await client.receive(resetStream, 1)).payload.readUInt32BE(0)).toBe(errorCode.protocol);
  client.ask(3, '/');
  await client.receive(data, 3);
  expect(client.statuses()).toEqual([200]);
  client.socket.destroy();
});

test('a target or host that HTTP/1.1 refuses is refused with 400', async () => {
  const client = await openRaw(trip());
  const targets = ['/a b', '/a\tb', '/\xff', '*', 'about', `ftp://${host}/`];
  for (const [n, target] of targets.entries()) client.ask(2 * n + 1, target);
  client.ask(101, '/', [['host', `bare.${baseDomain}`]]);
  client.ask(103, '/', [
    ['host', host],
    ['host', host],
  ]);
  await client.receive(data, 103);
  expect(client.statuses()).toEqual(Array(targets.length + 2).fill(400));
  client.socket.destroy();
});

test('frames that arrive byte by byte are read', async () => {
  const client = await openRaw(trip(), Buffer.alloc(0), '');
  const bytes = Buffer.concat([Buffer.from(preface), settingsFrame([]), frame(headers, wholeRequest, 1, asked)]);
  for (const byte of bytes) client.send(Buffer.of(byte));
  await client.receive(data, 1);
  expect(client.statuses()).toEqual([200]);
  client.socket.destroy();
});

test('a block that repeats one long field 30,000 times costs a 431', async () => {
  const client = await openRaw(trip());
  const value = 'v'.repeat(3_900);
  const long = Buffer.concat([Buffer.from('\x40\x01x\x7f\xbd\x1d', 'latin1'), Buffer.from(value)]);
  client.send(frame(headers, flag.endStream, 1, Buffer.concat([long, Buffer.alloc(12_000, 0x80 | 62)])));
  client.send(frame(continuation, flag.endHeaders, 1, Buffer.alloc(16_000, 0x80 | 62)));
  await client.receive(headers, 1);
  expect(client.statuses()).toEqual([431]);
  expect((await visit('/', trip())).status).toBe(200);
  client.socket.destroy();
});
