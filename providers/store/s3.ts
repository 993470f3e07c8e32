/**
 * The store in a bucket, with the same names as the store on a disk. A blob's own object is written last and only if
 * absent. Its metadata lists its variants; theirs contains their hashes. Blobs are durable when the server has accepted
 * them.
 */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import { blobName, storageError } from './blob-names.ts';
import { compress, compressibleBytesMax, readUpTo } from './compression.ts';
import { type Bucket, type BucketAddress, openBucket, type Timeouts } from './s3-bucket.ts';
import { accessMarkersFolder, createS3NamedFiles, sweepS3 } from './s3-named-files.ts';
import { openObject } from './s3-reader.ts';
import { createS3Removal } from './s3-removal.ts';
import type { Found } from './s3-responses.ts';
import { readSizes } from './sizes.ts';
import { spoolFile } from './spool-file.ts';
import type { Encoding, PutOptions, Store, StoredBlob } from './store.ts';

const looksAtOnce = 32;
const auditsAtOnce = 16;
const removalsMax = 16;

/** Why a blob is written although the name may be taken. `old`: a removal may take it (`removal.ts`). */
type Rewriting = { reason: 'absent' | 'different contents' | 'old' };
const overwriting: Rewriting = { reason: 'different contents' };

type Options = { spoolDir: string; timeouts?: Timeouts | undefined };

/** `spoolDir` holds a large file on this machine until its hash is known. */
export function createS3Store(address: BucketAddress, { spoolDir, timeouts }: Options): Store {
  const bucket = openBucket(address, timeouts);
  const removal = createS3Removal(bucket);

  /** The stored blob, or how to write it. An object of a different size counts as different contents. */
  async function storedBlob(sha256: string, bytes: number): Promise<StoredBlob | Rewriting> {
    const found = await bucket.head(blobName(sha256));
    if (!found) return { reason: 'absent' };
    if (found.bytes !== bytes) return { reason: 'different contents' };
    if (await removal.isOld(found)) return { reason: 'old' };
    return { sha256, bytes, encodings: variantsOf(found) };
  }

  async function putBuffer(content: Buffer, { compress: wantsVariants, overwrite }: PutOptions): Promise<StoredBlob> {
    const sha256 = hashOf(content);
    const before = overwrite ? overwriting : await storedBlob(sha256, content.length);
    if ('sha256' in before) return before;
    const variants = Object.entries(wantsVariants ? await compress(content) : {}) as [Encoding, Buffer][];
    const putVariants = () =>
      Promise.all(
        variants.map(([encoding, bytes]) => {
          const variant = hashOf(bytes);
          return bucket.put(blobName(sha256, encoding), bytes, { sha256: variant, metadata: { sha256: variant } });
        }),
      );
    const encodings = variants.map(([encoding]) => encoding);
    const metadata = { encodings: encodings.join(',') };
    if (before.reason === 'old') {
      await removal.renew(sha256, async () => {
        await putVariants();
        await bucket.put(blobName(sha256), content, { sha256, metadata });
      });
      return { sha256, bytes: content.length, encodings };
    }
    await putVariants();
    const onlyIfAbsent = before.reason === 'absent';
    const isNew = await bucket.put(blobName(sha256), content, { sha256, metadata, onlyIfAbsent });
    return isNew ? { sha256, bytes: content.length, encodings } : await afterAll(sha256, content.length);
  }

  /** Another writer was faster; its variants are the ones that exist. */
  async function afterAll(sha256: string, bytes: number): Promise<StoredBlob> {
    const found = await storedBlob(sha256, bytes);
    if ('sha256' in found) return found;
    throw new Error('an object with the same name has different contents');
  }

  async function putStream(content: Readable, { overwrite }: PutOptions): Promise<StoredBlob> {
    const spool = await spoolFile(spoolDir, content);
    try {
      const { sha256, bytes } = spool;
      const before = overwrite ? overwriting : await storedBlob(sha256, bytes);
      if ('sha256' in before) return before;
      const onlyIfAbsent = before.reason === 'absent';
      const write = () => bucket.putParts(blobName(sha256), spool.parts(), { onlyIfAbsent });
      if (before.reason === 'old') await removal.renew(sha256, write);
      else await write();
      return { sha256, bytes, encodings: [] };
    } finally {
      await spool.close();
    }
  }

  async function put(content: Readable | Buffer, options: PutOptions): Promise<StoredBlob> {
    if (Buffer.isBuffer(content)) return putBuffer(content, options);
    const { head, rest } = await readUpTo(content, compressibleBytesMax);
    return rest ? putStream(rest, options) : putBuffer(head, options);
  }

  const readBlob = (sha256: string, encoding: Encoding, range?: { start: number; end: number }) =>
    openObject(bucket, blobName(sha256, encoding), {
      range,
      sha256Of: ({ metadata }) => (encoding === 'identity' ? sha256 : metadata.sha256),
    });

  async function isSound(name: string, sha256: string): Promise<boolean | undefined> {
    const reading = await openObject(bucket, name);
    if (!reading) return undefined;
    const hash = reading.content.pipe(createHash('sha256'));
    reading.content.once('error', (error) => hash.destroy(error));
    await once(hash, 'readable');
    return hash.digest('hex') === sha256;
  }

  return {
    async put(content, options = {}) {
      try {
        return await put(content, options);
      } catch (error) {
        if (Buffer.isBuffer(content) || !content.errored) throw storageError(error);
        throw content.errored;
      }
    },

    read: async (sha256, encoding = 'identity', range) => {
      blobName(sha256);
      return (await orFault(readBlob(sha256, encoding, range)))?.content;
    },

    async readAll(sha256, encoding = 'identity') {
      blobName(sha256);
      return orFault(readBlob(sha256, encoding).then((reading) => reading && buffer(reading.content)));
    },

    sizes: (hashes) =>
      readSizes(hashes, looksAtOnce, async (sha256) => (await orFault(bucket.head(blobName(sha256))))?.bytes),

    async remove(hashes) {
      const kept = new Set<string>();
      const limit = pLimit(removalsMax);
      await orFault(
        limit.map(hashes, async (sha256) => {
          if (!(await removal.remove(sha256))) kept.add(sha256);
        }),
      );
      return kept;
    },

    list: () => listBlobs(bucket),
    flush: async () => {},

    async *audit() {
      let batch: Promise<{ sha256: string; sound: boolean } | undefined>[] = [];
      const all = async () => (await Promise.all(batch)).filter((one) => one !== undefined);
      for await (const { name } of bucket.list('sha256/')) {
        const [, sha256] =
          /^sha256\/([0-9a-f]{2}\/[0-9a-f]{62})$/.exec(name)?.map((part) => part.replace('/', '')) ?? [];
        if (!sha256) continue;
        batch.push(isSound(name, sha256).then((sound) => (sound === undefined ? undefined : { sha256, sound })));
        if (batch.length < auditsAtOnce) continue;
        yield* await all();
        batch = [];
      }
      yield* await all();
    },

    scratch: createS3NamedFiles(bucket, 'scratch/'),
    caches: createS3NamedFiles(bucket, 'caches/', { asked: accessMarkersFolder }),
    sweep: () => sweepS3(bucket),
  };
}

/** Names are listed in order, and variants are named after their blob, so they follow it. */
async function* listBlobs(bucket: Bucket): AsyncGenerator<StoredBlob> {
  let last: StoredBlob | undefined;
  for await (const { name, bytes } of bucket.list('sha256/')) {
    const [, prefix, rest, suffix] = /^sha256\/([0-9a-f]{2})\/([0-9a-f]{62})(\.br|\.gz)?$/.exec(name) ?? [];
    if (!prefix || !rest) continue;
    const sha256 = prefix + rest;
    if (!suffix) {
      if (last) yield last;
      last = { sha256, bytes, encodings: [] };
    } else if (last?.sha256 === sha256) last.encodings.push(suffix === '.br' ? 'br' : 'gzip');
  }
  if (last) yield last;
}

function variantsOf({ metadata }: Found): Encoding[] {
  return (metadata.encodings ?? '').split(',').filter((encoding) => encoding === 'br' || encoding === 'gzip');
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

async function orFault<T>(asking: Promise<T>): Promise<T> {
  return asking.catch((error) => {
    throw storageError(error);
  });
}
