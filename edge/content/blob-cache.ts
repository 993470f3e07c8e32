/** Bytes of files: small ones that are asked for often in memory, all others from the store. */
import { LRUCache } from 'lru-cache';
import type { Encoding, Store } from '#providers/store/store.ts';

export type Bytes = {
  /** The whole, when it is in memory. */
  held(form: BytesKey): Buffer | undefined;
  /** The whole of a small file, read once however many ask; `undefined` when the store does not hold it. */
  load(form: BytesKey): Promise<Buffer | undefined>;
};

/** `sha256` and encoding in one string, or one such key made from both. */
export type BytesKey = string;

/** Files up to this size are read whole and kept in memory; larger ones are streamed. */
export const heldBytesMax = 1024 * 1024;

export function bytesKey(sha256: string, encoding: Encoding): BytesKey {
  return `${sha256}${encoding}`;
}

/** Keeps at most `bytesMax` bytes, those asked for last. */
export function openBytes(store: Store, bytesMax: number): Bytes {
  const cache = new LRUCache<BytesKey, Buffer>({
    maxSize: bytesMax,
    maxEntrySize: heldBytesMax,
    // Key, entry and an empty buffer take some room of their own.
    sizeCalculation: (buffer) => buffer.length + 512,
    ignoreFetchAbort: true,
    fetchMethod: (key) => store.readAll(key.slice(0, 64), key.slice(64) as Encoding),
  });
  return {
    held: (key) => cache.get(key),
    load: (key) => cache.fetch(key),
  };
}
