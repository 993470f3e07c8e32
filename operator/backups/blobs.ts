/** Copies store files into a backup repository and back. Each is hashed on the way. */
import { Readable } from 'node:stream';
import { compressibleBytesMax } from '#providers/store/compression.ts';
import { type Store, type StoredBlob, WrongBytes } from '#providers/store/store.ts';
import { damaged } from './fault.ts';
import { type BlobLine, isSound, readPart } from './manifest.ts';

const batchSize = 64;

/**
 * Copies missing files and yields all of them. Calls `corrupt` for files that do not match their hash; these are
 * excluded unless the repository has an intact copy.
 */
export async function* copyBlobs(
  from: Store,
  repository: Store,
  corrupt: (sha256: string) => void,
): AsyncGenerator<BlobLine> {
  for await (const blobs of batches(from.list())) {
    const sizes = await repository.sizes(blobs.map(({ sha256 }) => sha256));
    const parts = await Promise.all(
      blobs.map(async ({ sha256, bytes }) => {
        const before = sizes.get(sha256);
        if (before === bytes || (await copy(from, repository, sha256))) return { sha256, bytes };
        corrupt(sha256);
        const kept = before === undefined ? undefined : { sha256, bytes: before };
        return kept && (await isSound(repository, kept)) ? kept : undefined;
      }),
    );
    for (const [index, { encodings }] of blobs.entries()) {
      const part = parts[index];
      if (part) yield encodings.length > 0 ? { ...part, compressed: true } : part;
    }
  }
}

async function copy(from: Store, repository: Store, sha256: string): Promise<boolean> {
  const content = await from.read(sha256);
  if (!content) return false;
  try {
    return (await repository.put(content)).sha256 === sha256;
  } catch (error) {
    if (error instanceof WrongBytes) return false;
    throw error;
  }
}

/**
 * Puts all files into the store and compresses them again. Throws BackupFault at the first damaged one, or calls
 * `leaveOut` for each if it is given.
 */
export async function restoreBlobs(
  repository: Store,
  into: Store,
  lines: AsyncIterable<BlobLine>,
  leaveOut?: (sha256: string) => void,
): Promise<void> {
  for await (const blobs of batches(lines)) {
    const sizes = await into.sizes(blobs.map(({ sha256 }) => sha256));
    await Promise.all(
      blobs.map(async (blob) => {
        const isThere = sizes.has(blob.sha256);
        if (isThere && sizes.get(blob.sha256) === blob.bytes && (await isSound(into, blob))) return;
        if (leaveOut && !(await isSound(repository, blob))) return leaveOut(blob.sha256);
        const compress = blob.compressed === true && blob.bytes <= compressibleBytesMax;
        const part = Readable.from(readPart(repository, blob), { objectMode: false });
        // The stored bytes do not match the hash, whatever their length.
        const put = await into.put(part, { compress, overwrite: isThere });
        if (put.sha256 !== blob.sha256) throw damaged(`${blob.sha256} has changed since it was copied`);
      }),
    );
  }
  await into.flush();
}

/** Hashes of lines whose bytes are missing from the repository or damaged. */
export async function* unsoundBlobs(repository: Store, lines: AsyncIterable<BlobLine>): AsyncGenerator<string> {
  for await (const blobs of batches(lines)) {
    const sound = await Promise.all(blobs.map((blob) => isSound(repository, blob)));
    for (const [index, { sha256 }] of blobs.entries()) if (!sound[index]) yield sha256;
  }
}

async function* batches<Item extends StoredBlob | BlobLine>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
