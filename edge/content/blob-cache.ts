/** Caches small files in memory. All others come from the store. */
import { LRUCache } from 'lru-cache';
import type { Encoding, Store } from '#providers/store/store.ts';

export type BlobCache = {
  /** The whole blob, if in memory. */
  cached(form: BlobKey): Buffer | undefined;
  /** A small blob; concurrent calls share one read. `undefined` if the store does not have it. */
  load(form: BlobKey): Promise<Buffer | undefined>;
};

/** SHA-256 and encoding in one string. */
export type BlobKey = string;

/** Files up to this size are cached; larger ones are streamed. */
export const cachedBytesMax = 1024 * 1024;

export function blobKey(sha256: string, encoding: Encoding): BlobKey {
  return `${sha256}${encoding}`;
}

/** Caches at most `bytesMax` bytes, least recently used first out. */
export function createBlobCache(store: Store, bytesMax: number): BlobCache {
  const cache = new LRUCache<BlobKey, Buffer>({
    maxSize: bytesMax,
    maxEntrySize: cachedBytesMax,
    // 512 bytes for key, entry and the buffer object.
    sizeCalculation: (buffer) => buffer.length + 512,
    ignoreFetchAbort: true,
    fetchMethod: (key) => store.readAll(key.slice(0, 64), key.slice(64) as Encoding),
  });
  return {
    cached: (key) => cache.get(key),
    load: (key) => cache.fetch(key),
  };
}
