import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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

describe('the sweep', () => {
  const day = 24 * 3600;
  const now = Date.now() / 1000;
  const put = (kind: 'scratch' | 'caches', name: string) => store[kind].put(name, Readable.from([Buffer.from(name)]));
  const age = (kind: string, name: string, written: number, asked = written) =>
    utimes(join(dir, kind, name), now - asked * day, now - written * day);

  test('takes what was neither written nor asked for within its time, and nothing else', async () => {
    for (const name of ['old', 'new']) for (const kind of ['scratch', 'caches'] as const) await put(kind, name);
    await put('caches', 'asked-for');
    await mkdir(join(dir, 'tmp'), { recursive: true });
    for (const name of ['old', 'new']) await writeFile(join(dir, 'tmp', name), name);
    const blob = await store.put(text, { compress: true });
    for (const encoding of ['identity', 'br', 'gzip'] as const)
      await utimes(blobPath(dir, blob.sha256, encoding), now - 400 * day, now - 400 * day);
    for (const kind of ['tmp', 'scratch']) {
      await age(kind, 'old', 1.01);
      await age(kind, 'new', 0.99);
    }
    await age('caches', 'old', 30.01);
    await age('caches', 'new', 29.99);
    await age('caches', 'asked-for', 90, 29.99);
    expect(await store.sweep()).toBe(3);
    const left = await Promise.all(
      ['tmp', 'scratch', 'caches'].map(async (kind) => (await readdir(join(dir, kind))).sort()),
    );
    expect(left).toEqual([['new'], ['new'], ['asked-for', 'new']]);
    expect(await read(blob.sha256)).toEqual(text);
    expect(brotliDecompressSync((await read(blob.sha256, 'br')) as Buffer)).toEqual(text);
    expect(await store.sweep()).toBe(0);
  });

  test('finds nothing where nothing was ever kept', async () => {
    expect(await store.sweep()).toBe(0);
  });

  test('by many processes at once, beside writers, fails nobody and takes nothing that is fresh', async () => {
    const stores = Array.from({ length: 4 }, () => openDiskStore(dir));
    for (let n = 0; n < 20; n++) {
      await put('scratch', `old-${n}`);
      await age('scratch', `old-${n}`, 2);
    }
    const writing = Array.from({ length: 20 }, (_, n) => put('scratch', `new-${n}`));
    const blobs = Array.from({ length: 20 }, (_, n) => store.put(Readable.from([Buffer.from(`blob ${n}`)])));
    const taken = await Promise.all([...stores, ...stores].map((one) => one.sweep()));
    await Promise.all(writing);
    expect(taken.reduce((sum, some) => sum + some, 0)).toBeGreaterThanOrEqual(20);
    expect((await readdir(join(dir, 'scratch'))).sort()).toEqual(
      Array.from({ length: 20 }, (_, n) => `new-${n}`).sort(),
    );
    for (const { sha256 } of await Promise.all(blobs)) expect(await read(sha256)).toBeDefined();
  });

  test('leaves a snapshot whole for whoever has begun to read it', async () => {
    await put('scratch', 'snapshot');
    await age('scratch', 'snapshot', 2);
    const reading = await store.scratch.read('snapshot');
    await store.sweep();
    expect(reading && String(await buffer(reading))).toBe('snapshot');
  });
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
