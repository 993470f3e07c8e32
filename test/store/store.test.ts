import { createHash, randomBytes } from 'node:crypto';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { restoreBlobs } from '#operator/backups/blobs.ts';
import { blobPath } from '#providers/store/disk.ts';
import type { Store } from '#providers/store/store.ts';
import { describeKinds, onDisk, type Place } from './kinds.ts';

const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const text = Buffer.from('<p>the same words again</p>\n'.repeat(200));

describeKinds((kind) => {
  let place: Place;
  let store: Store;
  beforeAll(() => kind.start?.());
  afterAll(() => kind.stop?.());
  beforeEach(async () => {
    place = await kind.open();
    store = place.openStore();
  });
  afterEach(() => place?.close());

  async function read(sha256: string, encoding?: 'br' | 'gzip') {
    const content = await store.read(sha256, encoding);
    return content ? await buffer(content) : undefined;
  }

  /** As if nobody had put it for a week. */
  async function makeOld(sha256: string): Promise<void> {
    const at = Date.now() / 1000 - 7 * 86_400;
    await place.age(blobPath(place.dir, sha256), at, at);
  }

  test('bytes are read back under their hash, streamed or whole', async () => {
    for (const content of [randomBytes(10), randomBytes(3_000_000), Buffer.alloc(0)]) {
      const whole = await store.put(content);
      const streamed = await store.put(Readable.from([content.subarray(0, 7), content.subarray(7)]));
      expect(streamed).toEqual(whole);
      expect(whole).toEqual({ sha256: sha(content), bytes: content.length, encodings: [] });
      expect((await read(whole.sha256))?.equals(content)).toBe(true);
    }
  });

  test('compressible files have stored variants, and report them when put again', async () => {
    const first = await store.put(Readable.from([text]), { compress: true });
    expect(first.encodings).toEqual(['br', 'gzip']);
    expect(await store.put(text, { compress: true })).toEqual(first);
    const brotli = (await read(first.sha256, 'br')) as Buffer;
    expect(brotliDecompressSync(brotli)).toEqual(text);
    // RFC 7932 section 9.1: a small window, so that compressing clears little memory.
    expect((brotli[0] ?? 1) & 1).toBe(0);
    expect(gunzipSync((await read(first.sha256, 'gzip')) as Buffer)).toEqual(text);
    expect((await store.put(randomBytes(5000), { compress: true })).encodings).toEqual([]);
  });

  test('an old blob is removed with its variants; a recent one is kept', async () => {
    const [old, recent] = [await store.put(text, { compress: true }), await store.put(randomBytes(100))];
    const absent = sha(randomBytes(4));
    await makeOld(old.sha256);
    expect(await store.remove([old.sha256, recent.sha256, absent])).toEqual(new Set([recent.sha256]));
    expect((await store.sizes([old.sha256, recent.sha256])).has(old.sha256)).toBe(false);
    expect([await read(old.sha256), await read(old.sha256, 'br')]).toEqual([undefined, undefined]);
    expect(await read(recent.sha256)).toBeDefined();
    expect(await store.put(text, { compress: true })).toEqual(old);
  });

  test('putting an old blob again protects it from removal', async () => {
    const { sha256 } = await store.put(text, { compress: true });
    for (const again of [text, Readable.from([text])]) {
      await makeOld(sha256);
      expect((await place.openStore().put(again, { compress: true })).sha256).toBe(sha256);
      expect(await store.remove([sha256])).toEqual(new Set([sha256]));
      expect(await read(sha256)).toEqual(text);
    }
  });

  test('a blob that is put while it is removed is there afterwards', async () => {
    for (let round = 0; round < 20; round++) {
      const content = randomBytes(2000);
      const { sha256 } = await store.put(content);
      await makeOld(sha256);
      await Promise.all([store.remove([sha256]), ...Array.from({ length: 4 }, () => store.put(content))]);
      expect(await read(sha256), `round ${round}`).toEqual(content);
    }
  });

  test('a file too large to compress in memory is stored plain', async () => {
    const large = Buffer.alloc(9 * 1024 * 1024, 'large ');
    const half = large.length / 2;
    const kept = await store.put(Readable.from([large.subarray(0, half), large.subarray(half)]), { compress: true });
    expect(kept).toEqual({ sha256: sha(large), bytes: large.length, encodings: [] });
    expect((await read(kept.sha256))?.equals(large)).toBe(true);
  });

  test('the same bytes put fifty times concurrently are stored once, without leftovers', async () => {
    const puts = await Promise.all(Array.from({ length: 50 }, () => store.put(text, { compress: true })));
    expect(new Set(puts.map((put) => put.sha256)).size).toBe(1);
    expect(await place.leftAside()).toEqual([]);
  });

  test('an interrupted stream leaves no blob', async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('the build went away');
      })(),
    );
    await expect(store.put(broken)).rejects.toThrow('the build went away');
    expect((await store.sizes([sha(Buffer.from('half'))])).size).toBe(0);
  });

  test('a missing blob is absent, and an invalid hash is refused', async () => {
    const absent = sha(Buffer.from('absent'));
    expect(await store.read(absent)).toBeUndefined();
    expect(await store.readAll(absent)).toBeUndefined();
    expect((await store.sizes([absent])).size).toBe(0);
    await expect(store.read('../../etc/passwd')).rejects.toThrow('not a SHA-256');
  });

  test('the audit names blobs with wrong bytes', async () => {
    const sound = await store.put(Buffer.from('sound'));
    const spoilt = await store.put(Buffer.from('spoilt'));
    await writeFile(blobPath(place.dir, spoilt.sha256), 'other bytes');
    const found = new Map<string, boolean>();
    for await (const blob of store.audit()) found.set(blob.sha256, blob.sound);
    expect(found).toEqual(
      new Map([
        [sound.sha256, true],
        [spoilt.sha256, false],
      ]),
    );
  });

  test('a restore rewrites corrupt bytes of the same length, with variants', async () => {
    const { sha256, bytes } = await store.put(text, { compress: true });
    const backup = await onDisk.open();
    onTestFinished(() => backup.close());
    const from = backup.openStore();
    await from.put(text);
    for (const encoding of ['identity', 'br'] as const)
      await writeFile(blobPath(place.dir, sha256, encoding), 'x'.repeat(bytes));
    async function* lines() {
      yield { sha256, bytes, compressed: true as const };
    }
    await restoreBlobs(from, store, lines());
    expect(await read(sha256)).toEqual(text);
    expect(brotliDecompressSync((await read(sha256, 'br')) as Buffer)).toEqual(text);
  });

  describe('the sweep', () => {
    const day = 24 * 3600;
    const now = Date.now() / 1000;
    const put = (kind: 'scratch' | 'caches', name: string) => store[kind].put(name, Readable.from([Buffer.from(name)]));
    const age = (folder: string, name: string, written: number, asked = written) =>
      place.age(join(place.dir, folder, name), now - written * day, now - asked * day);

    test('removes what was neither written nor used within its time', async () => {
      for (const name of ['old', 'new']) for (const kind of ['scratch', 'caches'] as const) await put(kind, name);
      await put('caches', 'asked-for');
      const blob = await store.put(text, { compress: true });
      for (const encoding of ['identity', 'br', 'gzip'] as const)
        await utimes(blobPath(place.dir, blob.sha256, encoding), now - 400 * day, now - 400 * day);
      await age('scratch', 'old', 1.01);
      await age('scratch', 'new', 0.99);
      await age('caches', 'old', 30.01);
      await age('caches', 'new', 29.99);
      await age('caches', 'asked-for', 90, 29.99);
      expect(await store.sweep()).toBe(2);
      expect(await place.names('scratch')).toEqual(['new']);
      expect(await place.names('caches')).toEqual(['asked-for', 'new']);
      expect(await read(blob.sha256)).toEqual(text);
      expect(brotliDecompressSync((await read(blob.sha256, 'br')) as Buffer)).toEqual(text);
      expect(await store.sweep()).toBe(0);
    });

    test('finds nothing in an empty store', async () => {
      expect(await store.sweep()).toBe(0);
    });

    test('by many processes beside writers causes no failure and removes nothing fresh', async () => {
      const stores = Array.from({ length: 4 }, () => place.openStore());
      for (let n = 0; n < 20; n++) {
        await put('scratch', `old-${n}`);
        await age('scratch', `old-${n}`, 2);
      }
      const writing = Array.from({ length: 20 }, (_, n) => put('scratch', `new-${n}`));
      const blobs = Array.from({ length: 20 }, (_, n) => store.put(Readable.from([Buffer.from(`blob ${n}`)])));
      const taken = await Promise.all([...stores, ...stores].map((one) => one.sweep()));
      await Promise.all(writing);
      expect(taken.reduce((sum, some) => sum + some, 0)).toBeGreaterThanOrEqual(20);
      expect(await place.names('scratch')).toEqual(Array.from({ length: 20 }, (_, n) => `new-${n}`).sort());
      for (const { sha256 } of await Promise.all(blobs)) expect(await read(sha256)).toBeDefined();
    });

    test('keeps a snapshot for a reader that has begun', async () => {
      await put('scratch', 'snapshot');
      await age('scratch', 'snapshot', 2);
      const reading = await store.scratch.read('snapshot');
      await store.sweep();
      expect(reading && String(await buffer(reading))).toBe('snapshot');
    });
  });
});
