/** The kinds of stores, and access to what is behind them. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe } from 'vitest';
import { createDiskStore } from '#providers/store/disk.ts';
import { createS3Store } from '#providers/store/s3.ts';
import type { Store } from '#providers/store/store.ts';
import { makeFolder } from '#test/stack/database.ts';
import { type S3Server, startS3 } from './s3-server.ts';

export type Place = {
  /** Another process's view of the same store. */
  openStore(): Store;
  /** The folder in which blobs stand under their names. */
  dir: string;
  /** What is written and has no name yet. */
  leftAside(): Promise<string[]>;
  /** Names of kept bytes, in order. */
  names(kind: 'scratch' | 'caches'): Promise<string[]>;
  /** Makes a file one that was written and asked for then, in seconds since 1970. */
  age(path: string, written: number, asked: number): Promise<void>;
  close(): Promise<void>;
};

type Kind = {
  start?(): Promise<void>;
  stop?(): Promise<void>;
  open(): Promise<Place>;
};

const namesIn = async (folder: string) => (await readdir(folder).catch(() => [])).sort();

export const onDisk: Kind = {
  async open() {
    const dir = await makeFolder('frontage-store-');
    return {
      dir,
      openStore: () => createDiskStore(dir),
      leftAside: () => namesIn(join(dir, 'tmp')),
      names: (kind) => namesIn(join(dir, kind)),
      age: (path, written, asked) => utimes(path, asked, written),
      close: () => rm(dir, { recursive: true, force: true }),
    };
  },
};

let server: S3Server | undefined;

const inBucket: Kind = {
  async start() {
    server = await startS3();
  },
  stop: async () => server?.remove(),
  open: async () => openBucketPlace(server as S3Server),
};

/** A bucket of its own, or a folder of one. */
export async function openBucketPlace(s3: S3Server, { prefix = '' } = {}): Promise<Place> {
  const bucket = `b-${randomUUID()}`;
  const root = join(s3.dir, bucket);
  await mkdir(root);
  const spoolDir = join(root, '..', `${bucket}.spool`);
  const openStore = () => createS3Store({ ...s3.address, bucket, prefix }, { spoolDir });
  return {
    dir: join(root, prefix),
    openStore,
    leftAside: async () => [...(await uploadsUnder(root)), ...(await namesIn(spoolDir))],
    names: (kind) => namesIn(join(root, prefix, kind)),
    async age(path, written, asked) {
      await utimes(path, written, written);
      if (asked === written) return;
      const content = await openStore().caches.read(basename(path));
      await (content && buffer(content));
      await utimes(join(root, prefix, 'asked', basename(path)), asked, asked);
    },
    async close() {
      await rm(root, { recursive: true, force: true });
      await rm(spoolDir, { recursive: true, force: true });
    },
  };
}

/** Uploads that are under way, and files that the server has not named yet. */
async function uploadsUnder(root: string): Promise<string[]> {
  const aside = join(root, '.sgwtmp');
  const found = await readdir(aside, { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((one) => one.isFile()).map((one) => one.name);
}

/** The same tests for each kind that this machine has. */
export function describeKinds(tests: (kind: Kind) => void): void {
  describe('a store on a disk', () => tests(onDisk));
  describe('a store in a bucket', { tags: 'versitygw' }, () => tests(inBucket));
}
