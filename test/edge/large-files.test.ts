/** Files too large to be held in memory are streamed, under the same rules. */
import { randomBytes } from 'node:crypto';
import { readdir, readlink, stat, truncate } from 'node:fs/promises';
import { connect } from 'node:net';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cachedBytesMax } from '#edge/content/blob-cache.ts';
import { blobPath } from '#providers/store/disk.ts';
import { ask, createFixture, type Fixture, until } from './fixture.ts';

const film = randomBytes(3 * cachedBytesMax + 7);
const words = 'All work and no play. '.repeat(100_000);
const host = 'big.sites.test';

let fixture: Fixture;
let port: number;

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.publish('big', { 'film.mp4': film, 'words.txt': words, 'torn.bin': randomBytes(2 * cachedBytesMax) });
  ({ port } = await fixture.openEdge());
});
afterAll(() => fixture?.close());

test('a large file is sent whole, with its length', async () => {
  const answer = await ask(port, '/film.mp4', { host });
  expect(answer.headers['content-length']).toBe(String(film.length));
  expect(answer.body.equals(film)).toBe(true);
});

test('HEAD has the length and no body', async () => {
  const answer = await ask(port, '/film.mp4', { host, method: 'HEAD' });
  expect([answer.headers['content-length'], answer.body.length]).toEqual([String(film.length), 0]);
});

test('a range within the file is sent', async () => {
  const answer = await ask(port, '/film.mp4', { host, headers: { range: 'bytes=1000000-2000000' } });
  expect(answer.status).toBe(206);
  expect(answer.body.equals(film.subarray(1_000_000, 2_000_001))).toBe(true);
});

test('a compressed representation is sent', async () => {
  const answer = await ask(port, '/words.txt', { host, headers: { 'accept-encoding': 'br' } });
  expect(answer.headers['content-encoding']).toBe('br');
  expect(brotliDecompressSync(answer.body).toString()).toBe(words);
});

test('neither HEAD nor a range leaves a file open', async () => {
  for (let n = 0; n < 20; n++) {
    expect((await ask(port, '/film.mp4', { host, method: 'HEAD' })).status).toBe(200);
    expect((await ask(port, '/film.mp4', { host, headers: { range: 'bytes=5-6' } })).status).toBe(206);
  }
  await noneIsOpen();
});

test('a visitor who disconnects leaves no open file and no log line', async () => {
  const before = fixture.logged.length;
  for (let n = 0; n < 20; n++) {
    await new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`GET /film.mp4 HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
      socket.once('data', () => socket.destroy());
      socket.once('close', () => resolve());
      socket.once('error', reject);
    });
  }
  await noneIsOpen();
  expect(fixture.logged.slice(before)).toEqual([]);
});

test('a truncated file ends in a broken connection, not in a wrong file', async () => {
  const torn = (await fixture.db.query('select manifest_sha256 from deployment')).rows[0].manifest_sha256;
  const manifest = (await fixture.store.readAll(torn))?.toString() ?? '';
  const line = manifest.split('\n').find((text) => text.includes('torn.bin')) ?? '';
  const path = blobPath(`${fixture.dir}/store`, JSON.parse(line).sha256);
  await truncate(path, (await stat(path)).size - 10);
  await expect(ask(port, '/torn.bin', { host })).rejects.toThrow();
  await until(async () => fixture.logged.some((entry) => entry.err?.message.includes('a blob ended after')));
  expect((await ask(port, '/words.txt', { host })).status).toBe(200);
});

/** Waits until this process holds no file of the store. */
async function noneIsOpen(): Promise<void> {
  await until(async () => {
    const numbers = await readdir('/proc/self/fd');
    const paths = await Promise.all(numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => '')));
    return paths.every((path) => !path.startsWith(`${fixture.dir}/store/`));
  });
}
