/**
 * A backup repository: a content-addressed store for the parts of all backups, and a name for each backup. The name is
 * written last, so a named backup is complete. Parts that several backups share are stored once.
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
import { bucketOf, folderOrBucket } from '#runtime/buckets.ts';
import type { Config } from '#runtime/config.ts';
import { BackupFault } from './fault.ts';

export type BackupRepository = {
  store: Store;
  /** Names of all backups, oldest first. */
  names(): Promise<string[]>;
  /** The hash of a backup's manifest. */
  read(name: string): Promise<string | undefined>;
  write(name: string, sha256: string): Promise<void>;
  /** Call before the first write. Throws BackupFault if other users can read the folder. */
  claim(): Promise<void>;
  /** Moves a damaged part to `damaged/`. False if it does not exist. */
  setAside(sha256: string): Promise<boolean>;
  /** Removes the name; its parts stay. */
  forget(name: string): Promise<void>;
  /** Deletes a part. */
  drop(sha256: string): Promise<void>;
  /**
   * Lock files of processes that use the repository, and when each was last renewed, in milliseconds of the
   * repository's own clock: see locks.ts.
   */
  locks: {
    write(name: string): Promise<void>;
    list(): Promise<{ name: string; at: number }[]>;
    remove(name: string): Promise<void>;
  };
};

type Settings = Pick<Config, 'storeDir' | 's3' | 'backupServer' | 'dataDir'>;

/** `where` is a folder, or `s3://bucket/folder` on the configured backup server. Throws BackupFault. */
export async function openBackupRepository(config: Settings, where: string): Promise<BackupRepository> {
  if (!folderOrBucket.test(where)) throw new BackupFault('The location must be a folder or s3://bucket/folder.');
  const { dataDir } = config;
  if (!where.startsWith('s3://')) {
    const dir = resolve(where);
    if (!config.s3 && dir === config.storeDir)
      throw new BackupFault(
        'This location is the installation’s own store. Choose a separate destination for the backup.',
      );
    return { store: createStore({ storeDir: dir, s3: undefined, dataDir }), ...folderRepository(dir) };
  }
  const address = { ...bucketOf(where), ...config.backupServer };
  if (
    config.s3?.endpoint === address.endpoint &&
    config.s3?.bucket === address.bucket &&
    config.s3.prefix === address.prefix
  )
    throw new BackupFault(
      'This location is the installation’s own store. Choose a separate destination for the backup.',
    );
  return {
    store: createStore({ storeDir: undefined, s3: address, dataDir }),
    ...(await bucketRepository(address, join(dataDir, 'spool'))),
  };
}

function folderRepository(dir: string): Omit<BackupRepository, 'store'> {
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
    locks: locksOnDisk(join(dir, 'under-way')),
    async claim() {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      if (((await stat(dir)).mode & 0o007) === 0) return;
      const words = `Every user of this machine can read ${dir}, but a backup contains unencrypted data`;
      throw new BackupFault(`${words}. Run chmod 700 on the folder, or choose a folder that does not exist yet.`);
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

function locksOnDisk(folder: string): BackupRepository['locks'] {
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

async function bucketRepository(address: BucketAddress, spoolDir: string): Promise<Omit<BackupRepository, 'store'>> {
  // Imported only for buckets: see providers/store/factory.ts.
  const { openBucket } = await import('#providers/store/s3-bucket.ts');
  const { spoolFile: openSpool } = await import('#providers/store/spool-file.ts');
  const bucket = openBucket(address);
  const folder = 'backups/';
  const locks = 'under-way/';
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
    locks: {
      async write(name: string) {
        await bucket.put(locks + name, Buffer.from('\n'));
      },
      async list() {
        const all: { name: string; at: number }[] = [];
        for await (const { name, modifiedAt } of bucket.list(locks))
          all.push({ name: name.slice(locks.length), at: modifiedAt.getTime() });
        return all;
      },
      remove: (name: string) => bucket.remove(locks + name),
    },
    // The bucket's server controls access.
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

/** Flushes the folder's entries, so that a rename survives a power cut. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
