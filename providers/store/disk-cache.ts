/**
 * A cache of a store's blobs on this machine's disk, limited in size, in a folder that several processes share. A
 * cached file is the SHA-256 of its bytes and then the bytes, and gets its name by rename. Each process checks the
 * digest before its first use of a file.
 */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Clock } from '#runtime/clock.ts';
import { blobName } from './blob-names.ts';
import { createCacheSpace } from './cache-space.ts';
import { compressibleBytesMax } from './compression.ts';
import type { Encoding, Store } from './store.ts';

type Range = { start: number; end: number };
type Options = {
  dir: string;
  /** The limit for the whole folder, whatever the number of processes. */
  bytesMax: number;
  processes: number;
  clock: Clock;
  log: Logger;
};

const digestBytes = 32;

export function createCachedStore(store: Store, { dir, bytesMax, processes, clock, log }: Options): Store {
  const room = createCacheSpace({ dir, bytesMax, processes, clock });
  const filling = new Map<string, Promise<void>>();
  // Names that this process has verified: the first read after a loss of power finds damaged files.
  const sound = new LRUCache<string, true>({ max: 100_000 });
  const keyOf = (sha256: string, encoding: Encoding) =>
    blobName(sha256, encoding).slice('sha256/'.length).replace('/', '');

  /** Opens a cached file; undefined if it is missing or damaged. */
  async function openKept(key: string): Promise<FileHandle | undefined> {
    const file = await open(join(dir, key)).catch(missing);
    if (!file || sound.get(key)) return file;
    const digest = Buffer.alloc(digestBytes);
    await file.read(digest, 0, digestBytes, 0);
    const hash = createHash('sha256');
    for await (const chunk of file.createReadStream({ start: digestBytes, autoClose: false })) hash.update(chunk);
    if (isDigestOf(key, digest) && hash.digest().equals(digest)) {
      sound.set(key, true);
      return file;
    }
    await file.close();
    await rm(join(dir, key), { force: true });
    return undefined;
  }

  async function keep(key: string, bytes: number, content: AsyncIterable<Buffer> | Buffer[]): Promise<void> {
    if (!(await room.take(bytes))) return;
    const aside = join(dir, `${randomUUID()}.part`);
    let kept = 0;
    try {
      const file = await open(aside, 'wx');
      let at = digestBytes;
      try {
        const hash = createHash('sha256');
        for await (const chunk of content) {
          if (at + chunk.length > bytes + digestBytes) throw new Error('a file is longer than its declared size');
          hash.update(chunk);
          await file.write(chunk, 0, chunk.length, at);
          at += chunk.length;
        }
        const digest = hash.digest();
        if (!isDigestOf(key, digest)) throw new Error('a file’s contents do not match its hash');
        await file.write(digest, 0, digestBytes, 0);
      } finally {
        await file.close();
      }
      await rename(aside, join(dir, key));
      sound.set(key, true);
      kept = at - digestBytes;
    } catch (error) {
      await rm(aside, { force: true });
      throw error;
    } finally {
      room.settle(bytes, kept);
    }
  }

  /** Fetches a file, once for all concurrent readers. If it does not fit, or this disk fails, nothing is cached. */
  async function fill(key: string, sha256: string, encoding: Encoding): Promise<void> {
    const bytes = encoding === 'identity' ? (await store.sizes([sha256])).get(sha256) : compressibleBytesMax;
    if (bytes === undefined || !room.fits(bytes)) return;
    const content = await store.read(sha256, encoding);
    if (content) await keep(key, bytes, content as AsyncIterable<Buffer>).finally(() => content.destroy());
  }

  function filled(key: string, sha256: string, encoding: Encoding): Promise<void> {
    const under = filling.get(key);
    if (under) return under;
    const fresh = fill(key, sha256, encoding)
      .catch((err) => log.warn({ err }, 'a file could not be cached on this machine'))
      .finally(() => filling.delete(key));
    filling.set(key, fresh);
    return fresh;
  }

  async function readKept(key: string, range: Range | undefined): Promise<Readable | undefined> {
    const file = await openKept(key);
    if (!file) return undefined;
    room.touch(key);
    const end = range && { end: range.end + digestBytes };
    return file.createReadStream({ start: (range?.start ?? 0) + digestBytes, ...end });
  }

  return {
    ...store,
    async read(sha256, encoding = 'identity', range) {
      const key = keyOf(sha256, encoding);
      const kept = await readKept(key, range).catch(nothing);
      if (kept) return kept;
      await filled(key, sha256, encoding);
      return (await readKept(key, range).catch(nothing)) ?? store.read(sha256, encoding, range);
    },

    async readAll(sha256, encoding = 'identity') {
      const key = keyOf(sha256, encoding);
      const kept = await readFile(join(dir, key)).catch(nothing);
      const digest = kept?.subarray(0, digestBytes);
      const bytes = kept?.subarray(digestBytes);
      if (digest && bytes && isDigestOf(key, digest) && createHash('sha256').update(bytes).digest().equals(digest)) {
        room.touch(key);
        return bytes;
      }
      const content = await store.readAll(sha256, encoding);
      if (content && room.fits(content.length))
        await keep(key, content.length, [content]).catch((err) =>
          log.warn({ err }, 'a file could not be cached on this machine'),
        );
      return content;
    },
  };
}

/** For a file under its own hash, the digest is that hash; a variant has its own. */
function isDigestOf(key: string, digest: Buffer): boolean {
  return key.length > 64 || digest.toString('hex') === key;
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/** A disk that fails counts as an empty cache. */
function nothing(): undefined {}
