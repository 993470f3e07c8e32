/** Connections of trusted proxies: the visitor's address comes from the PROXY header, and from nothing else. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls, createSecureContext } from 'node:tls';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readProxyHeader } from '#edge/http/proxy-header.ts';
import { systemClock } from '#runtime/clock.ts';
import { createEncryptionKeys } from '#runtime/encryption.ts';
import { createIssuer } from '#test/certificates/issuer.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { freePort } from '#tools/local/ports.ts';
import type { Fixture } from './fixture.ts';
import { createShops } from './shops.ts';

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Version 2: command, family, and what follows. */
const second = (command: number, family: number, rest: Buffer) =>
  Buffer.concat([signature, Buffer.from([command, family, rest.length >> 8, rest.length & 255]), rest]);
const ipv4 = (...more: number[]) => Buffer.from([198, 51, 100, 7, 10, 0, 0, 1, 0x30, 0x39, 1, 187, ...more]);
const ipv6 = Buffer.from(
  '20010db8000000000000000000000007fe8000000000000000000000000000013039 01bb'.replace(' ', ''),
  'hex',
);
const first = (line: string) => Buffer.from(`${line}\r\n`, 'latin1');

describe('the header', () => {
  const good: [string, Buffer, string | undefined][] = [
    ['version 1 over IPv4', first('PROXY TCP4 198.51.100.7 10.0.0.1 12345 443'), '198.51.100.7'],
    ['version 1 over IPv6', first('PROXY TCP6 2001:db8::7 fe80::1 12345 443'), '2001:db8::7'],
    ['version 1 UNKNOWN', first('PROXY UNKNOWN'), undefined],
    ['version 1 UNKNOWN with more text', first(`PROXY UNKNOWN ${'f'.repeat(40)}`), undefined],
    ['version 2 over IPv4', second(0x21, 0x11, ipv4()), '198.51.100.7'],
    ['version 2 with optional fields', second(0x21, 0x11, ipv4(3, 0, 4, 1, 2, 3, 4)), '198.51.100.7'],
    ['version 2 over IPv6', second(0x21, 0x21, ipv6), '2001:db8:0:0:0:0:0:7'],
    ['version 2 LOCAL', second(0x20, 0x00, Buffer.alloc(0)), undefined],
    ['version 2 of a family without an address', second(0x21, 0x31, Buffer.alloc(216)), undefined],
  ];
  test.each(good)('%s is read, however it is split', (_name, header, address) => {
    const whole = Buffer.concat([header, Buffer.from('GET / HTTP/1.1\r\n\r\n')]);
    expect(readProxyHeader(whole)).toEqual({ status: 'complete', bytes: header.length, address });
    for (let n = 1; n < header.length; n++)
      expect(readProxyHeader(whole.subarray(0, n))).toEqual({ status: 'incomplete' });
  });

  test.each([
    ['a request', Buffer.from('GET / HTTP/1.1\r\n')],
    ['a handshake', Buffer.from([22, 3, 1])],
    ['another word', first('PROXZ TCP4 1.1.1.1 1.1.1.1 1 1')],
    ['a name for an address', first('PROXY TCP4 example.com 10.0.0.1 1 1')],
    ['an address of the other family', first('PROXY TCP4 ::1 ::1 1 1')],
    ['an invalid port', first('PROXY TCP4 1.1.1.1 1.1.1.1 65536 1')],
    ['a port with a leading zero', first('PROXY TCP4 1.1.1.1 1.1.1.1 01 1')],
    ['two spaces', first('PROXY TCP4  1.1.1.1 1.1.1.1 1 1')],
    ['too few fields', first('PROXY TCP4 1.1.1.1 1.1.1.1 1')],
    ['a line that is too long', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(200)}`)],
    ['a third version', second(0x31, 0x11, ipv4())],
    ['an unknown command', second(0x22, 0x11, ipv4())],
    ['too short for IPv4 addresses', second(0x21, 0x11, Buffer.alloc(11))],
    ['too short for IPv6 addresses', second(0x21, 0x21, Buffer.alloc(35))],
    ['too long', second(0x21, 0x11, Buffer.alloc(60_000))],
    ['an invalid signature', Buffer.from('\r\n\r\n\0\r\nQUIX', 'latin1')],
  ])('%s is invalid', (_name, data) => {
    expect(readProxyHeader(data)).toEqual({ status: 'invalid' });
  });
});

let fixture: Fixture;
let edge: { port: number; tlsPort: number | undefined };
/** Visitors' addresses of responses, newest last. */
const seen: (string | undefined)[] = [];
const visitor = '198.51.100.7';
beforeAll(async () => {
  fixture = await createShops();
  const now = systemClock.now();
  const { key, chain: cert } = await (await createIssuer(now)).make(['shop.sites.test'], now);
  const log = pino({ level: 'silent' });
  edge = await fixture.openEdge({
    listening: {
      pageViews: { sent: (_request, _answer, socket) => void seen.push(socket.remoteAddress) },
      // 127.0.0.2 is somebody else.
      proxyProtocol: { trusted: ['127.0.0.1'], headerMs: 30_000 },
      tls: {
        port: 0,
        certificates: { contextOf: async () => createSecureContext({ key, cert }) },
        database: { ticketKey: async (_period, sealed) => sealed },
        clock: systemClock,
        log,
        encryptionKeys: createEncryptionKeys('a secret of the tests, long enough', []),
      },
    },
  });
});
afterAll(() => fixture?.close());

const request = 'GET / HTTP/1.1\r\nHost: shop.sites.test\r\nConnection: close\r\n\r\n';
const open = (port: number, localAddress = '127.0.0.1'): Socket => connect({ port, host: '127.0.0.1', localAddress });

/** Sends these pieces in turn; returns the response and the visitor's address. */
async function say(pieces: (Buffer | string)[], { port = edge.port, from = '127.0.0.1', gapMs = 5 } = {}) {
  seen.length = 0;
  const socket = open(port, from).setNoDelay();
  socket.on('error', () => {});
  const answer = text(socket).catch(() => '');
  for (const piece of pieces) {
    socket.write(piece);
    if (pieces.length > 1) await new Promise((resolve) => setTimeout(resolve, gapMs));
  }
  return { answer: (await answer).split('\r\n')[0], seen: [...seen] };
}

describe('a connection', () => {
  test.each([
    ['version 1', first(`PROXY TCP4 ${visitor} 10.0.0.1 12345 443`), visitor],
    ['version 2', second(0x21, 0x11, ipv4()), visitor],
    ['version 2 over IPv6', second(0x21, 0x21, ipv6), '2001:db8:0:0:0:0:0:7'],
    ['the proxy itself', second(0x20, 0x00, Buffer.alloc(0)), '127.0.0.1'],
  ])('from a trusted proxy has the address of %s, however the header is split', async (_name, header, address) => {
    const expected = { answer: 'HTTP/1.1 200 OK', seen: [address] };
    expect(await say([Buffer.concat([header, Buffer.from(request)])])).toEqual(expected);
    expect(
      await say(
        [...Buffer.concat([header, Buffer.from(request)])].map((byte) => Buffer.from([byte])),
        { gapMs: 0 },
      ),
    ).toEqual(expected);
    expect(await say([header, request])).toEqual(expected);
  });

  test('from a trusted proxy without a complete header in time is closed', async () => {
    const { port } = await fixture.openEdge({
      listening: { proxyProtocol: { trusted: ['127.0.0.1'], headerMs: 100 } },
    });
    for (const pieces of [[request], ['\x16\x03\x01'], [Buffer.alloc(100)], [signature], ['PROXY TCP4 ', '1.1']])
      expect(await say(pieces, { port })).toEqual({ answer: '', seen: [] });
  });

  test('from another address keeps it, and a PROXY header is a bad request', async () => {
    const from = '127.0.0.2';
    expect(await say([request], { from })).toEqual({ answer: 'HTTP/1.1 200 OK', seen: [from] });
    for (const header of [first(`PROXY TCP4 ${visitor} 10.0.0.1 1 2`), second(0x21, 0x11, ipv4())]) {
      const { answer, seen } = await say([Buffer.concat([header, Buffer.from(request)])], { from });
      expect(answer).toMatch(/^(HTTP\/1\.1 400 Bad Request)?$/);
      expect(seen).not.toContain(visitor);
    }
  });

  test('over TLS has the address of the header too, with HTTP/1.1 and HTTP/2', async () => {
    const port = edge.tlsPort as number;
    const shake = async (ALPNProtocols: string[]) => {
      const socket = open(port);
      socket.write(second(0x21, 0x11, ipv4()));
      const secure = connectTls({ socket, servername: 'shop.sites.test', rejectUnauthorized: false, ALPNProtocols });
      await once(secure, 'secureConnect');
      return secure;
    };
    seen.length = 0;
    const plain = await shake(['http/1.1']);
    plain.write(request);
    expect(await text(plain)).toContain('200 OK');
    const tunnel = await shake(['h2']);
    const session = connectHttp2('https://shop.sites.test', { createConnection: () => tunnel });
    const stream = session.request({ ':path': '/', ':authority': 'shop.sites.test' });
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(200);
    stream.resume();
    await once(stream, 'close');
    session.close();
    expect(seen).toEqual([visitor, visitor]);
  });

  test('over TLS fails the handshake without the header, or with one from anyone else', async () => {
    for (const [header, from] of [
      [Buffer.alloc(0), '127.0.0.1'],
      [second(0x21, 0x11, ipv4()), '127.0.0.2'],
    ] as const) {
      const socket = open(edge.tlsPort as number, from);
      if (header.length > 0) socket.write(header);
      const secure = connectTls({ socket, servername: 'shop.sites.test', rejectUnauthorized: false });
      const [error] = await once(secure, 'error');
      expect(error).toBeInstanceOf(Error);
    }
  });
});

describe('HAProxy with the project’s configuration', () => {
  let proxy: ChildProcess | undefined;
  let dir: string;
  afterAll(async () => {
    proxy?.kill('SIGKILL');
    if (dir) await rm(dir, { recursive: true, force: true });
  });

  test('forwards visitors’ addresses, with and without TLS, and finds the edge ready', {
    tags: 'haproxy',
  }, async () => {
    dir = await mkdtemp(join(tmpdir(), 'frontage-proxy-'));
    const ports = { plain: await freePort(), tls: await freePort() };
    await writeFile(join(dir, 'haproxy.cfg'), await hereInstead(ports));
    const env = { ...process.env, BASE_DOMAIN: 'sites.test' };
    proxy = spawn(await pathOf('haproxy'), ['-db', '-f', join(dir, 'haproxy.cfg')], { stdio: 'ignore', env });
    // A visitor's address that is not the proxy's own.
    const from = '127.0.0.9';
    const ask = () => say([request], { port: ports.plain, from }).catch(() => undefined);
    await expect
      .poll(ask, { timeout: 10_000, interval: 100 })
      .toEqual({ answer: 'HTTP/1.1 200 OK', seen: expect.arrayContaining([from]) });
    seen.length = 0;
    const secure = connectTls({
      socket: open(ports.tls, from),
      servername: 'shop.sites.test',
      rejectUnauthorized: false,
    });
    await once(secure, 'secureConnect');
    secure.write(request);
    expect(await text(secure)).toContain('200 OK');
    expect(seen).toContain(from);
  });
});

/** The project's own configuration, for one edge on this machine and free ports. */
async function hereInstead(ports: { plain: number; tls: number }): Promise<string> {
  const whole = await readFile(join(import.meta.dirname, '../../operator/haproxy.cfg'), 'utf8');
  return (
    whole
      .replace(/^resolvers docker\n(?: .*\n)+/m, '')
      .replace(/^frontend api\n(?: .*\n|\n)+backend apis\n(?: .*\n)+/m, '')
      .replace(' resolvers docker init-addr none', '')
      // As many files as a test may open.
      .replace('maxconn 20000', 'maxconn 200')
      .replaceAll(':4480\n', `:${ports.plain}\n`)
      .replace('bind :4443', `bind :${ports.tls}`)
      .replace('server-template edge 10 edge:4480', `server edge1 127.0.0.1:${edge.port}`)
      .replace(
        'server-template edge 10 edge:4443 port 4480',
        `server edge1 127.0.0.1:${edge.tlsPort} port ${edge.port}`,
      )
  );
}
