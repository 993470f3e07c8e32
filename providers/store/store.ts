/** The store: immutable bytes under the SHA-256 of what they are, kept for ever, so that restore needs no upload. */
import type { Readable } from 'node:stream';

/** `br` and `gzip` are the same content, compressed once when it was stored. */
export type Encoding = 'identity' | 'br' | 'gzip';

export type StoredBlob = { sha256: string; bytes: number; encodings: Encoding[] };

export type PutOptions = { compress?: boolean; overwrite?: boolean };

/** Bytes that a store gave are not those that were stored. */
export class WrongBytes extends Error {}

/**
 * What every store keeps to, whatever place it is in; `test/store/kinds.ts` lists the kinds, each held to the same sentences.
 *
 * - What is not held is `undefined`, or absent from the answer, never an error. A name that is no SHA-256 is refused.
 * - A place that fails rejects: `put` and `flush` with `storage_error`, the others with that or with the fault itself.
 * - A stream that is given and breaks off leaves nothing, and `put` rejects with the stream's own error.
 * - A stream that is read fails when it cannot go on. A store that hashes while it reads fails it with `WrongBytes` before the last chunk, so
 *   that nobody gets all of something wrong; of one that does not, `audit` tells.
 */
export interface Store {
  /** Takes bytes of unknown hash; what is already held is not written again, but with `anew`, for bytes that are not what their name says. */
  put(content: Readable | Buffer, options?: PutOptions): Promise<StoredBlob>;
  /** Bytes of the blob, or `undefined` when it is not held. */
  read(sha256: string, encoding?: Encoding, range?: { start: number; end: number }): Promise<Readable | undefined>;
  /** Whole small blob in memory. */
  readAll(sha256: string, encoding?: Encoding): Promise<Buffer | undefined>;
  /** Size of what is held under each of these hashes; a hash that is absent is not held. */
  sizes(hashes: string[]): Promise<Map<string, number>>;
  /** All that is held, in the order of the hashes' first bytes. What is put meanwhile may be among it. */
  list(): AsyncIterable<StoredBlob>;
  /**
   * Returns when all that was put before by this process is safe from a loss of power, and what is held under these hashes, whoever put it:
   * another process, or one before this.
   */
  flush(hashes?: string[]): Promise<void>;
  /** Re-hashes all that is held: whether the bytes are what their name says. */
  audit(): AsyncIterable<{ sha256: string; sound: boolean }>;
  /** Bytes that live for the length of one piece of work, at most a day. */
  scratch: NamedBytes;
  /** Bytes that may be lost: what builds of a site left for its next one. Forgotten a month after they were last asked for. */
  caches: NamedBytes;
  /** Removes what killed processes left, and what is past its time. Answers how many files went. */
  sweep(): Promise<number>;
}

/** Bytes under names of the caller's. What has a name is whole. */
export type NamedBytes = {
  put(name: string, content: Readable): Promise<void>;
  read(name: string): Promise<Readable | undefined>;
  remove(name: string): Promise<void>;
};
