/** Data synced before it is acknowledged, by name, whichever process wrote it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { blobPath, createDiskStore } from '#providers/store/disk.ts';
import { createFsyncQueue, fileSyncsMax } from '#providers/store/fsync.ts';

const synced = vi.hoisted(() => [] as string[]);
vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const open: typeof real.open = async (path, ...how) => {
    const file = await real.open(path, ...how);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await sync();
      synced.push(String(path));
    };
    return file;
  };
  return { ...real, open };
});

const page = Buffer.from('<p>the same words again</p>\n'.repeat(200));
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frontage-durable-'));
  synced.length = 0;
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test('a flush syncs another process’s file with its variants and folders', async () => {
  const { sha256, encodings } = await createDiskStore(dir).put(page, { compress: true });
  expect(encodings).toEqual(['br', 'gzip']);
  const other = createDiskStore(dir);
  await other.flush();
  expect(synced).toEqual([]);
  await other.flush([sha256]);
  const path = blobPath(dir, sha256);
  const folders = [dirname(path), dirname(dirname(path))];
  expect(new Set(synced)).toEqual(new Set([path, `${path}.br`, `${path}.gz`, ...folders]));
});

test('a flush of many files syncs each where the system’s program is missing', async () => {
  vi.stubEnv('PATH', '/nonexistent');
  onTestFinished(() => void vi.unstubAllEnvs());
  const store = createDiskStore(dir);
  const pages = Array.from({ length: fileSyncsMax + 1 }, (_, n) => Buffer.concat([page, Buffer.from(String(n))]));
  const hashes = await Promise.all(pages.map(async (one) => (await store.put(one, { compress: true })).sha256));
  await createDiskStore(dir).flush(hashes);
  const paths = hashes.map((sha256) => blobPath(dir, sha256));
  expect(synced).toEqual(expect.arrayContaining(paths.flatMap((path) => [path, `${path}.br`, dirname(path)])));
});

test('files that cannot be read after a failed flush stay for the next', async () => {
  const fault = Object.assign(new Error('input/output error'), { code: 'EIO' });
  let isBroken = true;
  const path = join(dir, 'file');
  await writeFile(path, 'words');
  const queue = createFsyncQueue(dir, async (one) => (isBroken ? Promise.reject(fault) : [one]));
  queue.add([path, join(dir, 'missing')]);
  await expect(queue.flush()).rejects.toMatchObject({ code: 'ENOENT' });
  isBroken = false;
  synced.length = 0;
  await expect(queue.flush()).rejects.toMatchObject({ code: 'ENOENT' });
  await expect.poll(() => synced).toContain(path);
});

test('a flush ignores a missing name', async () => {
  const { sha256 } = await createDiskStore(dir).put(page);
  const other = createDiskStore(dir);
  await other.flush(['0'.repeat(64), sha256]);
  expect(synced).toContain(blobPath(dir, sha256));
});
