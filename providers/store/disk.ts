/**
 * The store on a disk: `<dir>/sha256/<ab>/<cdef…>`, compressed variants beside it as `.br` and `.gz`. A blob's own name
 * appears last, by rename, so a named blob is complete and has its variants.
 */

import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pLimit from 'p-limit';
import { fileSystemTime } from '#providers/repositories/leftovers.ts';
import { dayMs } from '#rules/time.ts';
import { blobName, storageError, suffixes } from './blob-names.ts';
import { compress, compressibleBytesMax, readUpTo } from './compression.ts';
import { createFsyncQueue, fileSyncsMax } from './fsync.ts';
import { createNamedFiles, sweepFolder } from './named-files.ts';
import { createStorageClock, recentMs, renewMs } from './removal.ts';
import { readSizes } from './sizes.ts';
import type { Encoding, PutOptions, Store, StoredBlob } from './store.ts';

const removalsMax = 16;

/** The path of a blob. Throws unless `sha256` is a SHA-256 in hex. */
export function blobPath(dir: string, sha256: string, encoding: Encoding = 'identity'): string {
  return join(dir, blobName(sha256, encoding));
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function orMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error) => {
    if (isMissing(error)) return undefined;
    throw storageError(error);
  });
}

/** A variant without bytes is the result of a loss of power. */
async function variantsOf(path: string): Promise<Encoding[]> {
  const variants = await Promise.all(
    (['br', 'gzip'] as const).map(async (encoding) =>
      (await orMissing(stat(path + suffixes[encoding])))?.size ? encoding : undefined,
    ),
  );
  return variants.filter((encoding) => encoding !== undefined);
}

function withVariants(path: string, encodings: Encoding[]): string[] {
  return [path, ...encodings.map((encoding) => path + suffixes[encoding])];
}

/** The files to sync for a blob: none if it is not stored. */
async function namesAt(path: string): Promise<string[]> {
  return (await orMissing(stat(path))) ? withVariants(path, await variantsOf(path)) : [];
}

export function createDiskStore(dir: string): Store {
  const temporary = join(dir, 'tmp');
  const kept = { scratch: join(dir, 'scratch'), caches: join(dir, 'caches') };
  const written = createFsyncQueue(dir, namesAt);
  const made = new Map<string, Promise<unknown>>();

  /** Creates the folder once in the life of the process. */
  function folder(path: string): Promise<unknown> {
    const making = made.get(path) ?? mkdir(path, { recursive: true });
    made.set(path, making);
    return making.catch((error) => {
      made.delete(path);
      throw error;
    });
  }

  const time = createStorageClock(async () => {
    await folder(temporary);
    return await fileSystemTime(temporary);
  });

  /** Whether the blob is there with this size, and will be for a while (`removal.ts`). */
  async function isLasting(path: string, bytes: number): Promise<boolean> {
    const found = await orMissing(stat(path));
    // A file of another size is the result of a loss of power and is overwritten.
    if (found?.size !== bytes) return false;
    const now = await time();
    if (now - found.mtimeMs < renewMs) return true;
    return (await orMissing(utimes(path, now / 1000, now / 1000).then(() => true))) ?? false;
  }

  /** Whether the blob is gone. It is moved aside first: a put that has renewed it meanwhile gets it back. */
  async function removeBlob(sha256: string): Promise<boolean> {
    const path = blobPath(dir, sha256);
    const found = await orMissing(stat(path));
    if (found && (await time()) - found.mtimeMs < recentMs) return false;
    for (const encoding of ['br', 'gzip'] as const) await rm(path + suffixes[encoding], { force: true });
    const aside = join(temporary, randomUUID());
    await folder(temporary);
    if (!(await orMissing(rename(path, aside).then(() => true)))) return true;
    const isRenewed = (await stat(aside)).mtimeMs !== found?.mtimeMs;
    // Somebody who has put it since has a file of that name.
    if (isRenewed) await link(aside, path).catch(() => {});
    await rm(aside, { force: true });
    return !isRenewed;
  }

  async function writeAside(content: Readable | Buffer, through?: Transform): Promise<string> {
    await folder(temporary);
    const aside = join(temporary, randomUUID());
    try {
      if (Buffer.isBuffer(content)) await writeFile(aside, content);
      else if (through) await pipeline(content, through, createWriteStream(aside));
      else await pipeline(content, createWriteStream(aside));
      return aside;
    } catch (error) {
      await rm(aside, { force: true });
      throw error;
    }
  }

  async function putBuffer(content: Buffer, { compress: wantsVariants, overwrite }: PutOptions): Promise<StoredBlob> {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const path = blobPath(dir, sha256);
    if (!overwrite && (await isLasting(path, content.length))) {
      const encodings = await variantsOf(path);
      written.add(withVariants(path, encodings));
      return { sha256, bytes: content.length, encodings };
    }
    await folder(join(path, '..'));
    const variants = wantsVariants ? await compress(content) : {};
    const asides = await Promise.all(
      (Object.entries(variants) as [Encoding, Buffer][]).map(
        async ([encoding, bytes]) => [await writeAside(bytes), path + suffixes[encoding]] as const,
      ),
    );
    for (const [aside, final] of asides) await rename(aside, final);
    await rename(await writeAside(content), path);
    written.add([path, ...asides.map(([, final]) => final)]);
    return { sha256, bytes: content.length, encodings: Object.keys(variants) as Encoding[] };
  }

  async function putStream(content: Readable): Promise<StoredBlob> {
    const hash = createHash('sha256');
    let bytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        bytes += chunk.length;
        done(null, chunk);
      },
    });
    const aside = await writeAside(content, measure);
    const sha256 = hash.digest('hex');
    const path = blobPath(dir, sha256);
    await folder(join(path, '..'));
    await rename(aside, path);
    written.add([path]);
    return { sha256, bytes, encodings: [] };
  }

  return {
    async put(content, options = {}) {
      try {
        if (Buffer.isBuffer(content)) return await putBuffer(content, options);
        if (!options.compress) return await putStream(content);
        const { head, rest } = await readUpTo(content, compressibleBytesMax);
        return rest ? await putStream(rest) : await putBuffer(head, options);
      } catch (error) {
        if (Buffer.isBuffer(content) || content.errored === null || content.errored === undefined)
          throw storageError(error);
        throw content.errored;
      }
    },

    async read(sha256, encoding = 'identity', range) {
      const file = await orMissing(open(blobPath(dir, sha256, encoding)));
      return file?.createReadStream(range);
    },

    readAll: (sha256, encoding) => orMissing(readFile(blobPath(dir, sha256, encoding))),

    sizes: (hashes) => readSizes(hashes, 16, async (sha256) => (await orMissing(stat(blobPath(dir, sha256))))?.size),

    async *list() {
      for (const prefix of (await readdir(join(dir, 'sha256')).catch(() => [])).sort()) {
        const names = new Set(await readdir(join(dir, 'sha256', prefix)));
        for (const name of names) {
          if (name.includes('.')) continue;
          const encodings = (['br', 'gzip'] as const).filter((encoding) => names.has(name + suffixes[encoding]));
          const { size: bytes } = await stat(join(dir, 'sha256', prefix, name));
          yield { sha256: prefix + name, bytes, encodings };
        }
      }
    },

    async flush(hashes = []) {
      const paths = hashes.map((sha256) => blobPath(dir, sha256));
      // So many are usually synced with the whole file system, without a look for their variants.
      written.add(paths.length > fileSyncsMax ? paths : (await Promise.all(paths.map(namesAt))).flat());
      await written.flush().catch((error) => {
        throw storageError(error);
      });
    },

    async remove(hashes) {
      const kept = new Set<string>();
      const limit = pLimit(removalsMax);
      await limit
        .map(hashes, async (sha256) => {
          if (!(await removeBlob(sha256))) kept.add(sha256);
        })
        .catch((error) => {
          throw storageError(error);
        });
      return kept;
    },

    async *audit() {
      for (const prefix of await readdir(join(dir, 'sha256')).catch(() => [])) {
        for (const name of await readdir(join(dir, 'sha256', prefix))) {
          if (name.includes('.')) continue;
          const hash = createHash('sha256');
          await pipeline(createReadStream(join(dir, 'sha256', prefix, name)), hash);
          yield { sha256: prefix + name, sound: hash.digest('hex') === prefix + name };
        }
      }
    },

    scratch: createNamedFiles(kept.scratch, writeAside),
    caches: createNamedFiles(kept.caches, writeAside),

    async sweep() {
      return (
        (await sweepFolder(temporary, dayMs)) +
        (await sweepFolder(kept.scratch, dayMs)) +
        (await sweepFolder(kept.caches, 30 * dayMs))
      );
    },
  };
}
