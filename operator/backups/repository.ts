/**
 * Where backups are kept: a store of its own, in which a backup's parts stand under their hashes beside those of others, and a name for each
 * backup. A name is written last, so what has a name is whole; what is the same in two backups is there once.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { blobName, keptName } from '#providers/store/blob-names.ts';
import { blobPath } from '#providers/store/disk.ts';
import { createStore } from '#providers/store/factory.ts';
import type { BucketAddress } from '#providers/store/s3-bucket.ts';
import type { Store } from '#providers/store/store.ts';
import { bucketOf, type Config, folderOrBucket } from '#runtime/config.ts';
import { BackupFault } from './fault.ts';

export type Place = {
  store: Store;
  /** Names of all backups here, the oldest first. */
  names(): Promise<string[]>;
  /** The hash of a backup's manifest. */
  read(name: string): Promise<string | undefined>;
  write(name: string, sha256: string): Promise<void>;
  /** Before anything is written. Throws BackupFault where others may read what will be. */
  claim(): Promise<void>;
  /** Moves a part that is damaged out of the way, to `damaged/`. False where there is none. */
  setAside(sha256: string): Promise<boolean>;
  /** Takes the name away; its parts stay. */
  forget(name: string): Promise<void>;
  /** Removes a part for good. */
  drop(sha256: string): Promise<void>;
  /** Empty files of processes that work here, and when each was written last, in milliseconds of the place's own clock: see marks.ts. */
  marks: {
    write(name: string): Promise<void>;
    list(): Promise<{ name: string; at: number }[]>;
    remove(name: string): Promise<void>;
  };
};

type Settings = Pick<Config, 'storeDir' | 's3' | 'backupServer' | 'dataDir'>;

/** `where` is a folder, or `s3://bucket/folder` on the server that the configuration names for backups. Throws BackupFault. */
export async function openPlace(config: Settings, where: string): Promise<Place> {
  if (!folderOrBucket.test(where)) throw new BackupFault('Say a folder, or s3://bucket/folder.');
  const { dataDir } = config;
  if (!where.startsWith('s3://')) {
    const dir = resolve(where);
    if (!config.s3 && dir === config.storeDir)
      throw new BackupFault('That is the store itself: a backup needs a place of its own.');
    return { store: createStore({ storeDir: dir, s3: undefined, dataDir }), ...openNamesOnDisk(dir) };
  }
  const address = { ...bucketOf(where), ...config.backupServer };
  if (
    config.s3?.endpoint === address.endpoint &&
    config.s3?.bucket === address.bucket &&
    config.s3.prefix === address.prefix
  )
    throw new BackupFault('That is the store itself: a backup needs a place of its own.');
  return {
    store: createStore({ storeDir: undefined, s3: address, dataDir }),
    ...(await openNamesInBucket(address, join(dataDir, 'spool'))),
  };
}

function openNamesOnDisk(dir: string): Omit<Place, 'store'> {
  const folder = join(dir, 'backups');
  return {
    names: async () => (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith('.')).sort(),
    async read(name) {
      const found = await readFile(join(folder, keptName(name)), 'utf8').catch(() => undefined);
      return found?.trim();
    },
    async write(name, sha256) {
      await mkdir(folder, { recursive: true });
      const aside = join(folder, `.${randomUUID()}`);
      await writeFile(aside, `${sha256}\n`, { flush: true });
      await rename(aside, join(folder, keptName(name)));
      await syncFolder(folder);
    },
    async forget(name) {
      await rm(join(folder, keptName(name)), { force: true });
      await syncFolder(folder);
    },
    drop: (sha256) => rm(blobPath(dir, sha256), { force: true }),
    marks: openMarksOnDisk(join(dir, 'under-way')),
    async claim() {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      if (((await stat(dir)).mode & 0o007) === 0) return;
      const words = `Everybody on this machine may look into ${dir}, and a backup holds everybody's rows in clear`;
      throw new BackupFault(`${words}: chmod 700 it, or name a folder that is not there yet.`);
    },
    async setAside(sha256) {
      await mkdir(join(dir, 'damaged'), { recursive: true });
      return await rename(blobPath(dir, sha256), join(dir, 'damaged', sha256)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return false;
          throw error;
        },
      );
    },
  };
}

function openMarksOnDisk(folder: string): Place['marks'] {
  return {
    async write(name) {
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, name), '\n');
    },
    async list() {
      const names = await readdir(folder);
      const all = names.map(async (name) => ({
        name,
        at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs,
      }));
      return (await Promise.all(all)).flatMap(({ name, at }) => (at === undefined ? [] : { name, at }));
    },
    remove: (name) => rm(join(folder, name), { force: true }),
  };
}

async function openNamesInBucket(address: BucketAddress, spoolDir: string): Promise<Omit<Place, 'store'>> {
  // Loaded by who has a bucket alone: see providers/store/factory.ts.
  const { openBucket } = await import('#providers/store/s3-bucket.ts');
  const { spoolFile: openSpool } = await import('#providers/store/spool-file.ts');
  const bucket = openBucket(address);
  const folder = 'backups/';
  const marks = 'under-way/';
  return {
    async names() {
      const names: string[] = [];
      for await (const { name } of bucket.list(folder)) names.push(name.slice(folder.length));
      return names.sort();
    },
    async read(name: string) {
      const found = await bucket.get(folder + keptName(name));
      return found && (await text(found.body)).trim();
    },
    async write(name: string, sha256: string) {
      await bucket.put(folder + keptName(name), Buffer.from(`${sha256}\n`));
    },
    forget: (name: string) => bucket.remove(folder + keptName(name)),
    drop: (sha256: string) => bucket.remove(blobName(sha256)),
    marks: {
      async write(name: string) {
        await bucket.put(marks + name, Buffer.from('\n'));
      },
      async list() {
        const all: { name: string; at: number }[] = [];
        for await (const { name, modifiedAt } of bucket.list(marks))
          all.push({ name: name.slice(marks.length), at: modifiedAt.getTime() });
        return all;
      },
      remove: (name: string) => bucket.remove(marks + name),
    },
    // Who may read a bucket, its own server says.
    async claim() {},
    async setAside(sha256: string) {
      const found = await bucket.get(blobName(sha256));
      if (!found) return false;
      const spool = await openSpool(spoolDir, found.body);
      const keeping = spool.bytes > 0 ? bucket.putParts(`damaged/${sha256}`, spool.parts()) : undefined;
      try {
        await keeping;
      } finally {
        await spool.close();
      }
      await bucket.remove(blobName(sha256));
      return true;
    },
  };
}

/** Writes the folder's own entries to disk: a rename in it survives a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
