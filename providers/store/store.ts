/**
 * The store: immutable bytes under their SHA-256, kept as long as a site names them, so that a restore of a version needs
 * no upload.
 */
import type { Readable } from 'node:stream';

/** `br` and `gzip` are the same content, compressed once when it was stored. */
export type Encoding = 'identity' | 'br' | 'gzip';

export type StoredBlob = { sha256: string; bytes: number; encodings: Encoding[] };

export type PutOptions = { compress?: boolean; overwrite?: boolean };

/** Bytes read from a store are not those that were stored. */
export class WrongBytes extends Error {}

/**
 * The rules for every store, wherever it is; `test/store/kinds.ts` lists the kinds, each held to the same tests.
 *
 * - A blob that is not stored is `undefined`, or absent from the result, never an error. A name that is not a SHA-256
 *   is rejected.
 * - If the storage fails, `put` and `flush` reject with `storage_error`, the others with that or with the fault itself.
 * - If an input stream breaks off, nothing is stored, and `put` rejects with the stream's own error.
 * - An output stream fails if it cannot continue. A store that hashes while it reads fails it with `WrongBytes` before
 *   the last chunk, so that no reader gets all of the wrong bytes; for any other store, `audit` reports them.
 */
export interface Store {
  /** Stores bytes of unknown hash. `overwrite` also rewrites an existing blob, whose bytes may be damaged. */
  put(content: Readable | Buffer, options?: PutOptions): Promise<StoredBlob>;
  /** Bytes of the blob, or `undefined` if it is not stored. */
  read(sha256: string, encoding?: Encoding, range?: { start: number; end: number }): Promise<Readable | undefined>;
  /** A whole small blob in memory. */
  readAll(sha256: string, encoding?: Encoding): Promise<Buffer | undefined>;
  /** The sizes of the blobs with these hashes; a hash that is absent is not stored. */
  sizes(hashes: string[]): Promise<Map<string, number>>;
  /** All stored blobs, in the order of the hashes' first bytes. Blobs that are put meanwhile may be included. */
  list(): AsyncIterable<StoredBlob>;
  /**
   * Returns when everything that this process has put is safe from a loss of power, and so are the blobs with these
   * hashes, even if another process or an earlier one put them.
   */
  flush(hashes?: string[]): Promise<void>;
  /**
   * Removes blobs that nothing names. A blob that was put within two days is kept, because a row may be about to name
   * it: put the row's transaction less than that after the put. Returns the hashes that were kept.
   */
  remove(hashes: string[]): Promise<Set<string>>;
  /** Re-hashes all stored blobs: `sound` is whether the bytes match their name. */
  audit(): AsyncIterable<{ sha256: string; sound: boolean }>;
  /** Bytes that live for the length of one task, at most a day. */
  scratch: NamedBytes;
  /** Bytes that may be lost: caches of a site's builds for its next one. Removed a month after the last read. */
  caches: NamedBytes;
  /** Removes leftovers of killed processes and expired files. Returns how many. */
  sweep(): Promise<number>;
}

/** Bytes under callers' names. A name always refers to complete bytes. */
export type NamedBytes = {
  put(name: string, content: Readable): Promise<void>;
  read(name: string): Promise<Readable | undefined>;
  remove(name: string): Promise<void>;
};
