/** An edge's cache of a remote store: within its limit, and never a wrong byte. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDiskStore } from '#providers/store/disk.ts';
import { createCachedStore } from '#providers/store/disk-cache.ts';
import type { Encoding, Store } from '#providers/store/store.ts';
import { systemClock } from '#runtime/clock.ts';

const mebibyte = 1024 * 1024;
const log = pino({ level: 'silent' });
const text = Buffer.from('<p>the same words again</p>\n'.repeat(80_000));

let root: string;
let dir: string;
let far: Store;
/** What was asked of the store that is elsewhere. */
let asked: number;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'frontage-cached-'));
  dir = join(root, 'near');
  asked = 0;
  const disk = createDiskStore(join(root, 'far'));
  far = {
    ...disk,
    read: (...args) => {
      asked += 1;
      return disk.read(...args);
    },
    readAll: (...args) => {
      asked += 1;
      return disk.readAll(...args);
    },
  };
});
afterEach(() => rm(root, { recursive: true, force: true }));

const open = ({ bytesMax = 64 * mebibyte, processes = 1, store = far, clock = systemClock } = {}) =>
  createCachedStore(store, { dir, bytesMax, processes, clock, log });

async function read(store: Store, sha256: string, encoding?: Encoding, range?: { start: number; end: number }) {
  const content = await store.read(sha256, encoding, range);
  return content && (await buffer(content));
}
const bytesHeld = async () => {
  const sizes = (await readdir(dir)).map((name) => stat(join(dir, name)).catch(() => undefined));
  return (await Promise.all(sizes)).reduce((sum, one) => sum + (one ? one.blocks * 512 : 0), 0);
};

test('cached files are read without the store: whole, streamed, by range, compressed', async () => {
  const { sha256 } = await far.put(text, { compress: true });
  const large = await far.put(randomBytes(3 * mebibyte));
  const content = (await far.readAll(large.sha256)) as Buffer;
  const first = open();
  for (const encoding of ['identity', 'br', 'gzip'] as const) {
    await first.readAll(sha256, encoding);
    await read(first, sha256, encoding);
  }
  expect(await read(first, large.sha256, 'identity', { start: 5, end: 9 })).toEqual(content.subarray(5, 10));
  const compressed = await far.readAll(sha256, 'br');
  await rm(join(root, 'far'), { recursive: true });
  for (const store of [first, open()]) {
    expect((await store.readAll(sha256))?.equals(text)).toBe(true);
    expect((await read(store, sha256))?.equals(text)).toBe(true);
    expect((await store.readAll(sha256, 'br'))?.equals(compressed as Buffer)).toBe(true);
    expect((await read(store, sha256, 'br'))?.equals(compressed as Buffer)).toBe(true);
    expect((await read(store, large.sha256))?.equals(content)).toBe(true);
    expect(
      (await read(store, large.sha256, 'identity', { start: 100, end: 2 * mebibyte }))?.equals(
        content.subarray(100, 2 * mebibyte + 1),
      ),
    ).toBe(true);
    expect(await read(store, large.sha256, 'identity', { start: 3 * mebibyte - 1, end: 3 * mebibyte - 1 })).toEqual(
      content.subarray(-1),
    );
  }
});

test('concurrent reads fetch a file once', async () => {
  const { sha256 } = await far.put(randomBytes(2 * mebibyte));
  const store = open();
  const all = await Promise.all(Array.from({ length: 30 }, () => read(store, sha256)));
  expect(asked).toBe(1);
  for (const one of all)
    expect(
      createHash('sha256')
        .update(one as Buffer)
        .digest('hex'),
    ).toBe(sha256);
});

test('a missing file is absent, and queried again', async () => {
  const content = randomBytes(2000);
  const absent = createHash('sha256').update(content).digest('hex');
  const store = open();
  expect(await store.readAll(absent)).toBeUndefined();
  expect(await store.read(absent)).toBeUndefined();
  await far.put(content);
  expect(await store.readAll(absent)).toEqual(content);
});

test('three processes sharing a folder stay within its limit, with correct bytes', async () => {
  const bytesMax = 3 * mebibyte;
  const blobs: string[] = [];
  for (let n = 0; n < 150; n++) blobs.push((await far.put(randomBytes(Math.floor(1 + ((n * 7919) % 120_000))))).sha256);
  const processes = [0, 1, 2].map(() => open({ bytesMax, processes: 3 }));
  await mkdir(dir, { recursive: true });
  // A process that was killed left something half-written.
  await writeFile(join(dir, 'left.part'), randomBytes(200_000));
  await utimes(join(dir, 'left.part'), 1, 1);
  let most = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) most = Math.max(most, await bytesHeld());
  })();
  const visit = async (store: Store, step: number) => {
    for (let n = 0; n < 120; n++) {
      const sha256 = blobs[(n * step) % blobs.length] as string;
      const content = n % 2 ? await store.readAll(sha256) : await read(store, sha256);
      if (
        createHash('sha256')
          .update(content as Buffer)
          .digest('hex') !== sha256
      )
        throw new Error('wrong bytes');
    }
  };
  await Promise.all(processes.flatMap((store) => [7, 11, 13].map((step) => visit(store, step))));
  isOver = true;
  await watching;
  expect(most).toBeLessThanOrEqual(bytesMax);
  expect(most).toBeGreaterThan(bytesMax / 2);
  expect(await readdir(dir)).not.toContain('left.part');
}, 60_000);

test('the most recently used files stay cached', async () => {
  let now = Date.now();
  const clock = { now: () => new Date(now) };
  const store = open({ bytesMax: 4 * mebibyte, clock });
  const favourite = (await far.put(randomBytes(100_000))).sha256;
  await store.readAll(favourite);
  for (let n = 0; n < 100; n++) {
    now += 61_000;
    await store.readAll((await far.put(randomBytes(100_000))).sha256);
    await store.readAll(favourite);
    await expect.poll(async () => (await stat(join(dir, favourite))).mtimeMs).toBeGreaterThan(now - 1000);
  }
  expect((await readdir(dir)).length).toBeLessThan(45);
});

test('a file larger than its share is not cached', async () => {
  const { sha256 } = await far.put(randomBytes(2 * mebibyte));
  const store = open({ bytesMax: 4 * mebibyte });
  expect((await read(store, sha256))?.length).toBe(2 * mebibyte);
  expect((await store.readAll(sha256))?.length).toBe(2 * mebibyte);
  expect(await readdir(dir).catch(() => [])).toEqual([]);
});

test('a corrupt cached file is never returned, and fetched again', async () => {
  const content = randomBytes(300_000);
  const other = randomBytes(300_000);
  const { sha256 } = await far.put(content);
  const compressed = await far.put(text, { compress: true });
  const br = (await far.readAll(compressed.sha256, 'br')) as Buffer;
  await open().readAll(sha256);
  await open().readAll(compressed.sha256, 'br');
  const spoil: ((path: string) => Promise<void>)[] = [
    (path) => truncate(path, 0),
    (path) => truncate(path, 20),
    (path) => truncate(path, 32),
    (path) => truncate(path, 200),
    async (path) => writeFile(path, flipped(await readFile(path), 0)),
    async (path) => writeFile(path, flipped(await readFile(path), 100)),
  ];
  for (const [key, hash, encoding, right] of [
    [sha256, sha256, 'identity', content],
    [`${compressed.sha256}.br`, compressed.sha256, 'br', br],
  ] as const) {
    for (const act of spoil) {
      await act(join(dir, key));
      expect((await read(open(), hash, encoding))?.equals(right)).toBe(true);
      await act(join(dir, key));
      expect((await open().readAll(hash, encoding))?.equals(right)).toBe(true);
    }
  }
  // Whole in itself, under a name that is not its own.
  const own = createHash('sha256').update(other).digest();
  await writeFile(join(dir, sha256), Buffer.concat([own, other]));
  expect((await read(open(), sha256))?.equals(content)).toBe(true);
});

test('wrong bytes are not cached', async () => {
  const { sha256 } = await far.put(randomBytes(5000));
  const wrong: Store = {
    ...far,
    async readAll() {
      throw new Error('a file’s contents do not match its hash');
    },
    async read() {
      const { Readable } = await import('node:stream');
      return Readable.from([randomBytes(5000)]);
    },
  };
  await read(open({ store: wrong }), sha256);
  expect((await read(open(), sha256))?.equals((await far.readAll(sha256)) as Buffer)).toBe(true);
});

test('a full disk does not prevent responses', async () => {
  await writeFile(dir, 'a file where the folder should be');
  const { sha256 } = await far.put(text, { compress: true });
  const store = open();
  expect((await store.readAll(sha256))?.equals(text)).toBe(true);
  expect((await read(store, sha256))?.equals(text)).toBe(true);
});

function flipped(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
}
