/** Reads a tar, or one that is compressed with gzip, while it arrives. Nothing is unpacked to a disk. */
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { passBytes } from '#api/plugins/file-body.ts';
import { AppError } from '#runtime/errors.ts';
import { type ArchiveBounds, type ArchiveEntry, invalidArchive, isBomb, ratioMax, tooLargeArchive } from './entries.ts';

// Bytes around the content of an entry, its path included; and bytes outside all entries.
const headBytesMax = 8_192;
const strayBytesMax = 1024 * 1024;
const blockBytes = 512;

const isFile = new Set(['file', 'contiguous-file']);

/** Throws `invalid_file` for what is no whole archive, `plan_limit` beyond the bounds. */
export async function* readTar(
  body: Readable,
  { bodyBytesMax, entriesMax }: ArchiveBounds,
  { gzip }: { gzip: boolean },
): AsyncGenerator<ArchiveEntry> {
  const entries = extract();
  const packed = countBytes((bytes) => bytes <= bodyBytesMax, 'is larger than a site may be');
  const room = { left: strayBytesMax };
  const unpacked = countBytes(
    (bytes) => !gzip || !isBomb(bytes, packed.count()),
    `unpacks to over ${ratioMax} times its size`,
  );
  const tail = watchTail(room);
  passBytes(body, packed.stream, () => invalidArchive('was not sent completely'));
  const through = gzip ? [packed.stream, createGunzip()] : [packed.stream];
  const reading = pipeline([...through, unpacked.stream, tail.stream, entries]);
  reading.catch(() => {}); // The loop gets the same error.
  let count = 0;
  try {
    for await (const entry of entries) {
      const { name, type, size = 0 } = entry.header;
      count += 1;
      if (count > entriesMax) throw tooLargeArchive(`has more than ${entriesMax} entries`);
      if (!Number.isSafeInteger(size) || size < 0) throw invalidArchive('has an entry of no valid size');
      room.left += (type === 'directory' ? 0 : size) + headBytesMax;
      const kind = type === 'directory' ? 'folder' : isFile.has(type ?? '') ? 'file' : 'other';
      yield { name, kind, bytes: size, open: async () => entry as unknown as Readable };
      entry.resume();
    }
    await reading;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw invalidArchive(gzip ? 'is not a whole tar in gzip' : 'is not a whole tar', error);
  } finally {
    entries.destroy();
  }
  if (!tail.isClosed()) throw invalidArchive('ends before its last block');
}

/** Passes bytes on while `fits` their number. */
function countBytes(fits: (bytes: number) => boolean, fault: string) {
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(fits(bytes) ? null : tooLargeArchive(fault), chunk);
    },
  });
  return { stream, count: () => bytes };
}

/** Limits bytes that belong to no entry, and sees the block of zeros that ends a whole tar. */
function watchTail(room: { left: number }) {
  let zeros = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      room.left -= chunk.length;
      let at = chunk.length;
      while (at > 0 && chunk[at - 1] === 0 && chunk.length - at < blockBytes) at -= 1;
      zeros = at === 0 ? zeros + chunk.length : chunk.length - at;
      done(room.left < 0 ? invalidArchive('has too many bytes outside its files') : null, chunk);
    },
  });
  return { stream, isClosed: () => zeros >= blockBytes };
}
