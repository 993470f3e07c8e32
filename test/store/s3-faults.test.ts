/**
 * A store in a bucket whose server dies, hangs, is full, returns wrong bytes, or has many concurrent clients.
 * @module-tag versitygw
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { blobPath } from '#providers/store/disk.ts';
import { createS3Store } from '#providers/store/s3.ts';
import { openBucket, type Timeouts } from '#providers/store/s3-bucket.ts';
import type { Store } from '#providers/store/store.ts';
import { openBucketPlace, type Place } from './kinds.ts';
import { type S3Server, startS3 } from './s3-server.ts';
import { openWire } from './wire.ts';

const mebibyte = 1024 * 1024;
const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/** In the pieces of a stream. */
const streamed = (bytes: Buffer) =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, n) => bytes.subarray(n * 65_536, (n + 1) * 65_536)),
  );

let s3: S3Server;
let place: Place;
let store: Store;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3?.remove());
beforeEach(async () => {
  place = await openBucketPlace(s3, { prefix: 'of/ours/' });
  store = place.openStore();
});
afterEach(() => place?.close());

/** The same bucket, over a wire. */
async function overWire(timeouts?: Timeouts) {
  const wire = await openWire(s3.port);
  const address = {
    ...s3.address,
    endpoint: `http://127.0.0.1:${wire.port}`,
    bucket: bucketOf(place),
    prefix: 'of/ours/',
  };
  const spoolDir = `${place.dir}/../../spool`;
  return { wire, store: createS3Store(address, { spoolDir, timeouts }) };
}
const bucketOf = ({ dir }: Place) => dir.slice(s3.dir.length + 1).split('/')[0] as string;

test('of twenty concurrent writers of one new name one wins, in parts or whole', async () => {
  const bucket = openBucket({ ...s3.address, bucket: bucketOf(place), prefix: '' });
  const parts = (n: number) => Readable.from([Buffer.alloc(5 * mebibyte, n), Buffer.from(`end ${n}`)]);
  for (const put of [
    (name: string, n: number) => bucket.put(name, Buffer.from(`content ${n}`), { onlyIfAbsent: true }),
    (name: string, n: number) => bucket.putParts(name, parts(n), { onlyIfAbsent: true }),
  ]) {
    const name = randomUUID();
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => put(name, n)));
    const opened = await bucket.get(name);
    const content = opened && (await buffer(opened.body));
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(String(content)).toMatch(new RegExp(`(content|end) ${results.indexOf(true)}$`));
  }
  expect(await place.leftAside()).toEqual([]);
});

test('stored bytes are not sent again', async () => {
  const content = randomBytes(20 * mebibyte);
  const { sha256 } = await store.put(content);
  const path = blobPath(place.dir, sha256);
  const before = await stat(path);
  await place.openStore().put(streamed(content));
  await place.openStore().put(content);
  expect((await stat(path)).ino).toBe(before.ino);
});

test('large files are sent in parts, read whole and by range, and leave nothing', async () => {
  const content = randomBytes(21 * mebibyte + 5);
  const blob = await store.put(streamed(content));
  expect(blob).toEqual({ sha256: sha(content), bytes: content.length, encodings: [] });
  expect((await readFile(blobPath(place.dir, blob.sha256))).equals(content)).toBe(true);
  const whole = await store.read(blob.sha256);
  expect(whole && (await buffer(whole)).equals(content)).toBe(true);
  const [start, end] = [7 * mebibyte, 9 * mebibyte];
  const some = await store.read(blob.sha256, 'identity', { start, end });
  expect(some && (await buffer(some)).equals(content.subarray(start, end + 1))).toBe(true);
  expect(await place.leftAside()).toEqual([]);
});

test('named files of any length are read back; interrupted writes keep the earlier one', async () => {
  for (const bytes of [0, 1, 8 * mebibyte - 1, 8 * mebibyte, 17 * mebibyte]) {
    const content = randomBytes(bytes);
    await store.caches.put('site', streamed(content));
    const read = await store.caches.read('site');
    expect(read && (await buffer(read)).equals(content)).toBe(true);
  }
  const broken = Readable.from(
    (async function* () {
      yield randomBytes(9 * mebibyte);
      throw new Error('broke off');
    })(),
  );
  await expect(store.caches.put('site', broken)).rejects.toThrow('broke off');
  const read = await store.caches.read('site');
  expect(read && (await buffer(read)).length).toBe(17 * mebibyte);
  expect(await place.leftAside()).toEqual([]);
});

test('a server killed during reads and writes loses nothing it accepted', async () => {
  const contents = Array.from({ length: 60 }, () => randomBytes(40_000));
  const large = randomBytes(30 * mebibyte);
  const first = await store.put(contents[0] as Buffer);
  const putting = contents.map((content) => store.put(content, { compress: true }));
  const puttingLarge = store.put(streamed(large));
  await Promise.race(putting);
  await s3.kill();
  const [, ...results] = await Promise.all([s3.start(), ...putting.map(settled), settled(puttingLarge)]);
  for (const error of results.filter((one) => one instanceof Error))
    expect(error).toMatchObject({ code: 'storage_error' });
  for (const [n, content] of [...contents, large].entries()) {
    const isTaken = !(results[n] instanceof Error);
    const held = await store.readAll(sha(content));
    if (isTaken || held) expect(held?.equals(content)).toBe(true);
    expect(await store.put(n === 60 ? streamed(content) : content)).toMatchObject({ sha256: sha(content) });
    expect((await store.readAll(sha(content)))?.equals(content)).toBe(true);
  }
  expect(await store.readAll(first.sha256)).toEqual(contents[0]);
});

test('an interrupted read continues where it was', async () => {
  const content = randomBytes(6 * mebibyte);
  const { sha256 } = await store.put(content);
  const over = await overWire();
  try {
    over.wire.cutAfter(2 * mebibyte);
    const read = await over.store.read(sha256, 'identity', { start: 10, end: content.length - 10 });
    expect(read && (await buffer(read)).equals(content.subarray(10, -9))).toBe(true);
    expect(over.wire.seen().cuts).toBe(1);
  } finally {
    await over.wire.close();
  }
});

test('a hanging server times out, and is used again when it is back', async () => {
  const content = randomBytes(3 * mebibyte);
  const { sha256 } = await store.put(content);
  const over = await overWire({ idle: 150, ask: 600, send: 900 });
  try {
    expect((await over.store.sizes([sha256])).get(sha256)).toBe(content.length);
    const read = await over.store.read(sha256);
    over.wire.goDead();
    const began = performance.now();
    const asked = [
      over.store.put(randomBytes(5000)),
      over.store.readAll(sha256),
      over.store.sizes([sha256]),
      over.store.scratch.put('snapshot', streamed(content)),
      read ? buffer(read) : undefined,
    ];
    for (const one of await Promise.all(asked.map((call) => settled(call as Promise<unknown>))))
      expect(one).toBeInstanceOf(Error);
    expect(performance.now() - began).toBeLessThan(6_000);
    over.wire.comeBack();
    expect((await over.store.readAll(sha256))?.equals(content)).toBe(true);
  } finally {
    await over.wire.close();
  }
});

test('altered bytes are never returned whole, and the audit names them', async () => {
  const text = Buffer.from('<p>the same words again</p>\n'.repeat(40_000));
  const blob = await store.put(text, { compress: true });
  for (const encoding of ['identity', 'br', 'gzip'] as const) {
    const path = blobPath(place.dir, blob.sha256, encoding);
    const other = await readFile(path);
    other[other.length >> 1] = (other[other.length >> 1] ?? 0) ^ 1;
    await writeFile(path, other);
    await expect(store.readAll(blob.sha256, encoding)).rejects.toMatchObject({ code: 'storage_error' });
    const stream = await store.read(blob.sha256, encoding);
    let bytes = 0;
    stream?.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await expect(new Promise((ended, failed) => stream?.once('end', ended).once('error', failed))).rejects.toThrow(
      'do not match its hash',
    );
    expect(bytes).toBeLessThan(other.length);
  }
  const found: unknown[] = [];
  for await (const one of store.audit()) found.push(one);
  expect(found).toEqual([{ sha256: blob.sha256, sound: false }]);
});

test('a full server refuses, and the name stays absent', async ({ onTestFinished }) => {
  const full = await startS3({ wrap: 'ulimit -f 2048;' });
  onTestFinished(() => full.remove());
  const there = await openBucketPlace(full);
  const cramped = there.openStore();
  const small = await cramped.put(randomBytes(1000));
  for (const content of [randomBytes(5 * mebibyte), randomBytes(20 * mebibyte)]) {
    await expect(cramped.put(content)).rejects.toMatchObject({ code: 'storage_error' });
    await expect(cramped.put(streamed(content))).rejects.toMatchObject({ code: 'storage_error' });
    expect((await cramped.sizes([sha(content)])).size).toBe(0);
  }
  expect((await cramped.readAll(small.sha256))?.length).toBe(1000);
});

test('abandoned uploads are aborted after a day', async () => {
  const bucket = openBucket({ ...s3.address, bucket: bucketOf(place), prefix: '' });
  const held = new Promise<never>(() => {});
  let isSent = false;
  const parts = (async function* () {
    yield randomBytes(5 * mebibyte);
    isSent = true;
    await held;
  })();
  void bucket.putParts('of/ours/sha256/half', parts);
  await expect.poll(() => isSent).toBe(true);
  await expect.poll(() => place.leftAside()).toHaveLength(1);
  expect(await bucket.abandonBefore(new Date(Date.now() - 24 * 3600_000))).toBe(0);
  expect(await bucket.abandonBefore(new Date(Date.now() + 1000))).toBe(1);
  expect(await place.leftAside()).toEqual([]);
});

test('a missing bucket or a wrong key is a fault, not an absent file', async () => {
  const options = { spoolDir: `${place.dir}/../../spool` };
  const elsewhere = createS3Store({ ...s3.address, bucket: 'nobody-made-it', prefix: '' }, options);
  const credentials = { accessKeyId: 'frontage', secretAccessKey: 'of somebody else' };
  const refused = createS3Store({ ...s3.address, credentials, bucket: bucketOf(place), prefix: '' }, options);
  for (const wrong of [elsewhere, refused]) {
    const hash = sha(Buffer.from('x'));
    for (const ask of [() => wrong.sizes([hash]), () => wrong.readAll(hash), () => wrong.put(Buffer.from('x'))])
      await expect(ask()).rejects.toMatchObject({ code: 'storage_error' });
  }
});

async function settled<T>(asking: Promise<T>): Promise<T | Error> {
  return asking.catch((error) => error as Error);
}
