import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { diffManifests, parseManifest, renderManifest } from '../../providers/manifest.ts';
import { blobPath, openDiskStore } from '../../providers/store/disk.ts';
import type { Store } from '../../providers/store/store.ts';

let dir: string;
let store: Store;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frontage-store-'));
  store = openDiskStore(dir);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const text = Buffer.from('<p>the same words again</p>\n'.repeat(200));

async function read(sha256: string, encoding?: 'br' | 'gzip') {
  const content = await store.read(sha256, encoding);
  return content ? await buffer(content) : undefined;
}

test('bytes come back under their hash, streamed or whole', async () => {
  for (const content of [randomBytes(10), randomBytes(3_000_000), Buffer.alloc(0)]) {
    const whole = await store.put(content);
    const streamed = await store.put(Readable.from([content.subarray(0, 7), content.subarray(7)]));
    expect(streamed).toEqual(whole);
    expect(whole).toEqual({ sha256: sha(content), bytes: content.length, encodings: [] });
    expect(await read(whole.sha256)).toEqual(content);
  }
});

test('what compresses is kept compressed beside, once, and says so when it is put again', async () => {
  const first = await store.put(Readable.from([text]), { compress: true });
  expect(first.encodings).toEqual(['br', 'gzip']);
  expect(await store.put(text, { compress: true })).toEqual(first);
  expect(brotliDecompressSync((await read(first.sha256, 'br')) as Buffer)).toEqual(text);
  expect(gunzipSync((await read(first.sha256, 'gzip')) as Buffer)).toEqual(text);
  expect((await store.put(randomBytes(5000), { compress: true })).encodings).toEqual([]);
});

test('a file too large to compress in memory is kept as it is', async () => {
  const large = Buffer.alloc(9 * 1024 * 1024, 'large ');
  const half = large.length / 2;
  const kept = await store.put(Readable.from([large.subarray(0, half), large.subarray(half)]), { compress: true });
  expect(kept).toEqual({ sha256: sha(large), bytes: large.length, encodings: [] });
  expect(await read(kept.sha256)).toEqual(large);
});

test('the same bytes put fifty times at once are held once, and nothing is left aside', async () => {
  const puts = await Promise.all(Array.from({ length: 50 }, () => store.put(text, { compress: true })));
  expect(new Set(puts.map((put) => put.sha256)).size).toBe(1);
  expect(await readdir(join(dir, 'tmp'))).toEqual([]);
});

test('a stream that breaks off leaves no blob', async () => {
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('half');
      throw new Error('the build went away');
    })(),
  );
  await expect(store.put(broken)).rejects.toThrow();
  expect((await store.sizes([sha(Buffer.from('half'))])).size).toBe(0);
});

test('what is not held is not there, and what is no hash is refused', async () => {
  const absent = sha(Buffer.from('absent'));
  expect(await store.read(absent)).toBeUndefined();
  expect(await store.readAll(absent)).toBeUndefined();
  expect((await store.sizes([absent])).size).toBe(0);
  await expect(store.read('../../etc/passwd')).rejects.toThrow('not a SHA-256');
});

test('the audit names the blob whose bytes are not what its name says', async () => {
  const sound = await store.put(Buffer.from('sound'));
  const spoilt = await store.put(Buffer.from('spoilt'));
  await writeFile(blobPath(dir, spoilt.sha256), 'other bytes');
  const found = new Map<string, boolean>();
  for await (const blob of store.audit()) found.set(blob.sha256, blob.sound);
  expect(found).toEqual(
    new Map([
      [sound.sha256, true],
      [spoilt.sha256, false],
    ]),
  );
});

test('a manifest is the same bytes whatever the order of its files, and comes back as it was', () => {
  const files = [
    { path: 'b.html', sha256: sha(Buffer.from('b')), bytes: 1 },
    { path: 'a}\n{.html', sha256: sha(Buffer.from('a')), bytes: 1, encodings: ['br' as const] },
  ];
  const manifest = renderManifest(files);
  expect(renderManifest([...files].reverse())).toEqual(manifest);
  expect(parseManifest(manifest)).toEqual([files[1], files[0]]);
  expect(parseManifest(renderManifest([]))).toEqual([]);
});

test('manifests differ by what was added, modified and removed', () => {
  const file = (path: string, content: string) => ({ path, sha256: sha(Buffer.from(content)), bytes: content.length });
  const changes = diffManifests(
    [file('a', '1'), file('b', '1'), file('c', '1')],
    [file('a', '1'), file('b', '2'), file('d', '1')],
  );
  const paths = Object.fromEntries(
    Object.entries(changes).map(([kind, files]) => [kind, files.map((one: { path: string }) => one.path)]),
  );
  expect(paths).toEqual({ added: ['d'], modified: ['b'], removed: ['c'] });
});
