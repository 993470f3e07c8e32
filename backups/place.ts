/**
 * Where backups are kept: a store of its own, in which a backup's parts stand under their hashes beside those of others, and a name for each
 * backup. A name is written last, so what has a name is whole; what is the same in two backups is there once.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { bucketOf, type Config, folderOrBucket } from '../config.ts';
import { keptName } from '../providers/store/names.ts';
import { openStore } from '../providers/store/open.ts';
import type { Store } from '../providers/store/store.ts';
import { BackupFault } from './manifest.ts';

export type Place = {
  store: Store;
  /** Names of all backups here, the oldest first. */
  names(): Promise<string[]>;
  /** The hash of a backup's manifest. */
  read(name: string): Promise<string | undefined>;
  write(name: string, sha256: string): Promise<void>;
};

type Settings = Pick<Config, 'storeDir' | 's3' | 's3Server' | 'dataDir'>;

/** `where` is a folder, or `s3://bucket/folder` on the server that the configuration names. Throws BackupFault. */
export async function openPlace(config: Settings, where: string): Promise<Place> {
  if (!folderOrBucket.test(where)) throw new BackupFault('Say a folder, or s3://bucket/folder.');
  const { dataDir } = config;
  if (!where.startsWith('s3://')) {
    const dir = resolve(where);
    if (!config.s3 && dir === config.storeDir)
      throw new BackupFault('That is the store itself: a backup needs a place of its own.');
    return { store: openStore({ storeDir: dir, s3: undefined, dataDir }), ...(await openNamesOnDisk(dir)) };
  }
  const address = { ...bucketOf(where), ...config.s3Server };
  if (config.s3?.bucket === address.bucket && config.s3.prefix === address.prefix)
    throw new BackupFault('That is the store itself: a backup needs a place of its own.');
  return { store: openStore({ storeDir: '', s3: address, dataDir }), ...(await openNamesInBucket(address)) };
}

async function openNamesOnDisk(dir: string): Promise<Omit<Place, 'store'>> {
  const folder = join(dir, 'backups');
  // Rows of all accounts are in it.
  await mkdir(dir, { recursive: true, mode: 0o700 });
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
      const handle = await open(folder);
      await handle.sync().finally(() => handle.close());
    },
  };
}

async function openNamesInBucket(address: Parameters<typeof import('../providers/store/s3-bucket.ts').openBucket>[0]) {
  // Loaded by who has a bucket alone: see providers/store/open.ts.
  const { openBucket } = await import('../providers/store/s3-bucket.ts');
  const bucket = openBucket(address);
  const folder = 'backups/';
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
  };
}
