/** Files of the store, into a place and out of it. Each is hashed on its way. */
import { Readable } from 'node:stream';
import { compressibleBytesMax } from '#providers/store/compression.ts';
import { type Store, type StoredBlob, WrongBytes } from '#providers/store/store.ts';
import { damaged } from './fault.ts';
import { type BlobLine, isSound, readPart } from './manifest.ts';

const batchSize = 64;

/** Copies what the place does not have, and tells of all. `spoilt` hears of what is not what its name says: left out, unless the place has it right. */
export async function* copyBlobs(
  from: Store,
  place: Store,
  spoilt: (sha256: string) => void,
): AsyncGenerator<BlobLine> {
  for await (const blobs of batches(from.list())) {
    const held = await place.sizes(blobs.map(({ sha256 }) => sha256));
    const parts = await Promise.all(
      blobs.map(async ({ sha256, bytes }) => {
        const before = held.get(sha256);
        if (before === bytes || (await copy(from, place, sha256))) return { sha256, bytes };
        spoilt(sha256);
        const kept = before === undefined ? undefined : { sha256, bytes: before };
        return kept && (await isSound(place, kept)) ? kept : undefined;
      }),
    );
    for (const [index, { encodings }] of blobs.entries()) {
      const part = parts[index];
      if (part) yield encodings.length > 0 ? { ...part, compressed: true } : part;
    }
  }
}

async function copy(from: Store, place: Store, sha256: string): Promise<boolean> {
  const content = await from.read(sha256);
  if (!content) return false;
  try {
    return (await place.put(content)).sha256 === sha256;
  } catch (error) {
    if (error instanceof WrongBytes) return false;
    throw error;
  }
}

/**
 * Puts all of these into the store, compressed forms made anew. Throws BackupFault at the first that is not what it was, or tells `leaveOut` of
 * each, where there is one.
 */
export async function restoreBlobs(
  place: Store,
  into: Store,
  lines: AsyncIterable<BlobLine>,
  leaveOut?: (sha256: string) => void,
): Promise<void> {
  for await (const blobs of batches(lines)) {
    const held = await into.sizes(blobs.map(({ sha256 }) => sha256));
    await Promise.all(
      blobs.map(async (blob) => {
        const isThere = held.has(blob.sha256);
        if (isThere && held.get(blob.sha256) === blob.bytes && (await isSound(into, blob))) return;
        if (leaveOut && !(await isSound(place, blob))) return leaveOut(blob.sha256);
        const compress = blob.compressed === true && blob.bytes <= compressibleBytesMax;
        const part = Readable.from(readPart(place, blob), { objectMode: false });
        // What is there is not what its name says, whatever its length.
        const put = await into.put(part, { compress, overwrite: isThere });
        if (put.sha256 !== blob.sha256) throw damaged(`${blob.sha256} is not what it was`);
      }),
    );
  }
  await into.flush();
}

/** Of the lines, those whose bytes are not in the place as they were. */
export async function* unsoundBlobs(place: Store, lines: AsyncIterable<BlobLine>): AsyncGenerator<string> {
  for await (const blobs of batches(lines)) {
    const sound = await Promise.all(blobs.map((blob) => isSound(place, blob)));
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
