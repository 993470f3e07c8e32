import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, ask, type Fixture } from './fixture.ts';
import { createShops, long } from './shops.ts';

let fixture: Fixture;
let port: number;
const etags: Record<string, string> = {};
const get = (headers: Record<string, string>, options: Ask = {}) =>
  ask(port, '/long.html', { host: 'shop.sites.test', headers, ...options });
/** Writes the real tag in the place of `E`, `B` (brotli) and `G` (gzip). */
const filled = (field: string) => field.replaceAll(/"([EBG])"/g, (_all, which: string) => etags[which] as string);

beforeAll(async () => {
  fixture = await createShops();
  ({ port } = await fixture.openEdge());
  for (const [which, encoding] of Object.entries({ E: 'identity', B: 'br', G: 'gzip' }))
    etags[which] = (await get({ 'accept-encoding': encoding })).headers.etag as string;
});
afterAll(() => fixture?.close());

test('each representation has a strong tag', () => {
  expect(new Set(Object.values(etags)).size).toBe(3);
  for (const etag of Object.values(etags)) expect(etag).toMatch(/^"[0-9a-f]{64}(-br|-gzip)?"$/);
});

describe('If-None-Match', () => {
  test.each([
    ['"E"', 304],
    ['W/"E"', 304],
    ['"other", "E"', 304],
    ['"other","E","more"', 304],
    ['W/"other" , W/"E"', 304],
    ['*', 304],
    [' * ', 304],
    ['"a, b", "E"', 304],
    ['"other"', 200],
    ['"B"', 200],
    ['""', 200],
    ['E', 200],
    ['"E', 200],
    ['w/"other"', 200],
  ])('%s: the status is %i', async (field, status) => {
    const answer = await get({ 'if-none-match': filled(field) });
    expect(answer.status).toBe(status);
    expect(answer.body.length).toBe(status === 304 ? 0 : long.length);
    expect(answer.headers.etag).toBe(etags.E);
    expect(answer.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
    expect(answer.headers.vary).toBe('accept-encoding');
  });

  test('applies to the representation that would be sent', async () => {
    const field = filled('"B"');
    expect((await get({ 'if-none-match': field, 'accept-encoding': 'br' })).status).toBe(304);
    expect((await get({ 'if-none-match': field, 'accept-encoding': 'gzip' })).status).toBe(200);
  });

  test('precedes a range', async () => {
    expect((await get({ 'if-none-match': filled('"E"'), range: 'bytes=0-1' })).status).toBe(304);
  });

  test('applies to HEAD', async () => {
    expect((await get({ 'if-none-match': filled('"E"') }, { method: 'HEAD' })).status).toBe(304);
  });
});

describe('If-Match', () => {
  test.each([
    ['"E"', 200],
    ['*', 200],
    ['"x", "E"', 200],
    ['W/"E"', 412],
    ['"x"', 412],
  ])('%s: the status is %i', async (field, status) => {
    expect((await get({ 'if-match': filled(field) })).status).toBe(status);
  });
});

describe('Range', () => {
  const size = Buffer.byteLength(long);
  test.each([
    ['bytes=0-0', 0, 0],
    ['bytes=0-9', 0, 9],
    ['bytes=10-', 10, size - 1],
    ['bytes=-5', size - 5, size - 1],
    ['bytes=-999999', 0, size - 1],
    ['bytes=5-999999', 5, size - 1],
    ['Bytes=1-2', 1, 2],
    ['bytes= 1-2', 1, 2],
  ])('%s: the status is 206, with bytes %i to %i', async (range, start, end) => {
    // Ranges are of the plain form, whatever else is accepted.
    const answer = await get({ range, 'accept-encoding': 'br, gzip' });
    expect(answer.status).toBe(206);
    expect(answer.headers['content-range']).toBe(`bytes ${start}-${end}/${size}`);
    expect(answer.headers['content-length']).toBe(String(end - start + 1));
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers.etag).toBe(etags.E);
    expect(answer.text).toBe(long.slice(start, end + 1));
  });

  test.each(['bytes=999999-', 'bytes=999999-1000000', 'bytes=-0'])('%s: the status is 416', async (range) => {
    const answer = await get({ range });
    expect(answer.status).toBe(416);
    expect(answer.headers['content-range']).toBe(`bytes */${size}`);
    expect(answer.body.length).toBe(0);
  });

  test.each([
    'bytes=0-1,3-4',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=5-2',
    'lines=0-1',
    'bytes 0-1',
    'bytes=0-1-2',
    'bytes=1.5-2',
    'bytes=99999999999999999999-',
  ])('%s: the range is ignored, and the whole file returned', async (range) => {
    const answer = await get({ range });
    expect(answer.status).toBe(200);
    expect(answer.text).toBe(long);
  });

  test.each([
    ['"E"', 206],
    ['W/"E"', 200],
    ['"B"', 200],
    ['"other"', 200],
    ['Sat, 21 Nov 2026 04:00:00 GMT', 200],
  ])('If-Range %s: the status is %i', async (field, status) => {
    expect((await get({ range: 'bytes=0-1', 'if-range': filled(field) })).status).toBe(status);
  });

  test('the range is ignored for HEAD', async () => {
    expect((await get({ range: 'bytes=0-1' }, { method: 'HEAD' })).status).toBe(200);
  });

  test('an empty file has no range', async () => {
    const answer = await ask(port, '/empty.txt', { host: 'shop.sites.test', headers: { range: 'bytes=0-' } });
    expect(answer.status).toBe(416);
  });
});

describe('Accept-Encoding', () => {
  test.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['BR', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, br;q=0.5', 'gzip'],
    ['gzip;q=0.8, br;q=0.8', 'br'],
    ['gzip;q=0.001', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
    ['*;q=0.5, gzip', 'gzip'],
    ['*;q=0', undefined],
    ['identity, br;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['identity;q=0', undefined],
    ['x-gzip', 'gzip'],
    ['br;q=1.5, gzip', 'gzip'],
    ['br;q=abc', undefined],
    ['brotli', undefined],
    ['deflate, zstd', undefined],
    ['br ; q=1.000 , gzip', 'br'],
    [',,gzip,,', 'gzip'],
  ])('%s: the encoding is %s', async (field, encoding) => {
    const answer = await get(field === undefined ? {} : { 'accept-encoding': field });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.headers.vary).toBe('accept-encoding');
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ''];
    expect((decode ? decode(answer.body) : answer.body).toString()).toBe(long);
  });

  test('a file without compressed representations is plain and does not vary', async () => {
    const headers = { 'accept-encoding': 'br, gzip' };
    const answer = await ask(port, '/font.woff2', { host: 'shop.sites.test', headers });
    expect([answer.headers['content-encoding'], answer.headers.vary]).toEqual([undefined, undefined]);
  });

  test('the page for a missing file is compressed too', async () => {
    const files = { '404.html': long };
    await fixture.publish('lost', files);
    const { port: other } = await fixture.openEdge();
    const answer = await ask(other, '/x', { host: 'lost.sites.test', headers: { 'accept-encoding': 'br' } });
    expect([answer.status, answer.headers['content-encoding']]).toEqual([404, 'br']);
    expect(brotliDecompressSync(answer.body).toString()).toBe(long);
  });
});
