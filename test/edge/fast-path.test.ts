/** The fast path and Node's HTTP read requests alike: what both accept gets the same response. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPlainRequest, renderHead } from '#edge/http/http1-head.ts';
import { ask, baseDomain, until } from './fixture.ts';
import { absent, brokenEscapes, climbs, controls } from './hostile-paths.ts';
import { useShops } from './shops.ts';

const { fixture, port } = await useShops();

/** One response on the wire, without its date. The connection stays open. */
async function nextAnswer(socket: Socket, hasBody: boolean): Promise<string> {
  let got = '';
  for (;;) {
    const [head, body] = got.split(/(?<=\r\n\r\n)(.*)/s);
    const length = hasBody ? Number(/^content-length: (\d+)/im.exec(head ?? '')?.[1] ?? 0) : 0;
    if (head?.endsWith('\r\n\r\n') && (body ?? '').length >= length) return got.replace(/^date: .*\r\n/im, '');
    const [chunk] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])])) as [
      Buffer | '',
    ];
    if (chunk === '') return got.replace(/^date: .*\r\n/im, '');
    got += chunk.toString('latin1');
  }
}

/** Sends the request, split in two pieces at `cut`. */
async function exchange(request: string, cut = 0): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  if (cut > 0) await new Promise((sent) => socket.write(request.slice(0, cut), 'latin1', sent));
  socket.write(request.slice(cut), 'latin1');
  const answer = await nextAnswer(socket, request.startsWith('GET'));
  socket.destroy();
  return answer;
}

const head = (path: string, fields: string[] = [], method = 'GET') =>
  [`${method} ${path} HTTP/1.1`, 'Host: shop.sites.test', ...fields, '', ''].join('\r\n');
// Connection options are not for the fast path.
const longWay = 'TE: trailers';

async function expectSame(path: string, fields: string[] = [], method = 'GET'): Promise<void> {
  expect(readPlainRequest(head(path, fields, method)), path).toBeDefined();
  expect(readPlainRequest(head(path, [...fields, longWay], method))).toBeUndefined();
  const [short, long] = await Promise.all([
    exchange(head(path, fields, method)),
    exchange(head(path, [...fields, longWay], method)),
  ]);
  expect(short).toBe(long);
}

describe('both paths return the same response, byte for byte', () => {
  test.each([
    '/',
    '/about',
    '/blog',
    '/long',
    '/empty.txt',
    '/nothing',
    '/gone.js',
    '/_astro/index.DxY3_a1b.css',
    '/café',
  ])('%s', async (path) => {
    const sent = encodeURI(path);
    await expectSame(sent);
    await expectSame(sent, [], 'HEAD');
    for (const field of ['Accept-Encoding: br', 'Accept-Encoding:gzip ', 'If-None-Match: *', 'If-Match: "x"'])
      await expectSame(sent, [field]);
    for (const range of ['bytes=0-3', 'bytes=-1', 'bytes=9999999-', 'bytes=0-1,2-3', 'bytes=3-1'])
      await expectSame(sent, [`Range: ${range}`]);
  });

  test('for hostile paths', async () => {
    const plain = [...climbs, ...brokenEscapes, ...controls, ...absent].filter((path) => readPlainRequest(head(path)));
    expect(plain.length).toBeGreaterThan(120);
    for (const path of plain) await expectSame(path);
  });

  test('for hosts of every kind', async () => {
    for (const host of ['soon', 'closed', 'nobody', 'SHOP', 'a.b']) {
      const request = (more: string) => `GET / HTTP/1.1\r\nhost: ${host}.${baseDomain}\r\n${more}\r\n`;
      expect(await exchange(request(''))).toBe(await exchange(request(`${longWay}\r\n`)));
    }
    for (const fields of ['', 'Host: a\r\nHost: b\r\n', 'Host: shop@sites.test\r\n', 'Host:\r\n'])
      expect((await exchange(`GET / HTTP/1.1\r\nA: b\r\n${fields}\r\n`)).slice(0, 13)).toBe('HTTP/1.1 400 ');
  });

  test('for any field values', async () => {
    const value = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
      maxLength: 8,
    });
    const name = fc.constantFrom('A', 'Range', 'If-None-Match', 'Accept-Encoding', 'If-Range', 'Cookie', 'X_y~z');
    const fields = fc.array(
      fc.tuple(name, value).map(([one, text]) => `${one}: ${text}`),
      { maxLength: 3 },
    );
    let plain = 0;
    await fc.assert(
      fc.asyncProperty(fields, async (some) => {
        if (!readPlainRequest(head('/about', some))) return;
        plain += 1;
        await expectSame('/about', some);
      }),
      { numRuns: 300 },
    );
    expect(plain).toBeGreaterThan(60);
  });
});

test('a request means the same however it is split', async () => {
  const one = <T>(...words: T[]) => fc.constantFrom(...words);
  const host = one(
    'shop.sites.test',
    'SHOP.sites.test.:80',
    'bare.sites.test',
    'nobody.sites.test',
    'a b',
    '[::1]',
    '\xa0shop.sites.test',
  );
  const target = one(
    ...'/ /about //shop.sites.test/ /%61bout?x=% /about#x /a/..%2f /both /blog /_astro/x.AbCd1234.js'.split(' '),
  );
  const field = one(
    'Range: bytes=-0',
    'Range:bytes=2-',
    'If-Range: "x"',
    'If-None-Match: W/"x", *',
    'Accept-Encoding: gzip;q=0,*',
    'X:\t',
    'Connection: Keep-Alive',
  );
  const blanks = one('', ' ', '\t ');
  const request = fc
    .record({
      method: one('GET', 'HEAD'),
      target,
      host,
      fields: fc.array(field, { maxLength: 3 }),
      before: blanks,
      after: blanks,
    })
    .map((asked) =>
      [
        `${asked.method} ${asked.target} HTTP/1.1`,
        `hOST:${asked.before}${asked.host}${asked.after}`,
        ...asked.fields,
        '',
        '',
      ].join('\r\n'),
    );
  await fc.assert(
    fc.asyncProperty(request, fc.double({ min: 0, max: 1, noNaN: true }), async (whole, part) => {
      expect(readPlainRequest(whole), whole).toBeDefined();
      const cut = 1 + Math.floor(part * (whole.length - 2));
      expect(await exchange(whole, cut)).toBe(await exchange(whole));
    }),
    { numRuns: 200 },
  );
});

describe('anything but one plain request is left to Node’s HTTP', () => {
  test.each([
    ['a body with a length', head('/', ['Content-Length: 0'])],
    ['a body in chunks', head('/', ['Transfer-Encoding: chunked'])],
    ['Connection: close', head('/', ['Connection: close'])],
    ['an upgrade', head('/', ['Connection: keep-alive, upgrade', 'Upgrade: h2c'])],
    ['an expectation', head('/', ['Expect: 100-continue'])],
    ['two requests', head('/') + head('/about')],
    ['half a request', head('/').slice(0, -2)],
    ['a byte more', `${head('/')}x`],
    ['an empty line before it', `\r\n${head('/')}`],
    ['HTTP/1.0', head('/').replace('1.1', '1.0')],
    ['another method', head('/', [], 'POST')],
    ['a small method', head('/', [], 'get')],
    ['an absolute target', head('http://shop.sites.test/')],
    ['a folded field', head('/', ['A: b', ' c'])],
    ['a bare line feed', head('/', ['A: b\nHost: evil.test'])],
    ['a bare carriage return', head('/', ['A: b\rHost: evil.test'])],
    ['a space before the colon', head('/', ['A : b'])],
    ['a field without a name', head('/', [': b'])],
    ['a line without a colon', head('/', ['A'])],
    ['a NUL in a field', head('/', ['A: \0'])],
    ['a space in the target', head('/ HTTP/1.1 /')],
    ['two spaces in the first line', head('/').replace(' HTTP', '  HTTP')],
  ])('%s', (_what, request) => {
    expect(readPlainRequest(request)).toBeUndefined();
  });
});

test('a response with a line break in a field is never sent', () => {
  for (const value of ['a\r\nset-cookie: b', 'a\nb', 'a\0', 'a\u2028'])
    expect(() => renderHead({ status: 200, fields: ['location', value] })).toThrow('invalid value of header field');
});

test('one connection serves any number of requests, across both paths and in order', async () => {
  const socket = connect(port, '127.0.0.1');
  const titles: string[] = [];
  const steps = [head('/'), head('/about'), head('/blog/', [longWay]), head('/about'), head('/')];
  for (const step of steps) {
    socket.write(step);
    titles.push(/<title>(.*)<\/title>/.exec(await nextAnswer(socket, true))?.[1] ?? '');
  }
  expect(titles).toEqual(['Front', 'About', 'Blog', 'About', 'Front']);
  socket.destroy();
});

test('a request that arrives byte by byte is served', async () => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  for (const byte of head('/about')) {
    socket.write(byte);
    await new Promise(setImmediate);
  }
  expect(await nextAnswer(socket, true)).toContain('<title>About</title>');
  socket.destroy();
});

test('no more requests are read from a client that does not read its responses', async () => {
  const edge = await fixture.openEdge();
  const socket = connect(edge.port, '127.0.0.1').pause();
  const request = head('/long');
  let taken = 0;
  let asking = true;
  const pump = () => {
    while (asking && socket.write(request, () => (taken += 1)));
    if (asking) socket.once('drain', pump);
  };
  pump();
  let before = -1;
  await until(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    const stands = before === taken;
    before = taken;
    return stands;
  }, 30_000);
  asking = false;
  expect((await ask(edge.port, '/about', { host: 'shop.sites.test' })).status).toBe(200);
  socket.destroy();
});
