/** Reads the framework's caches from a sandbox. They are as hostile as the rest of its output. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Extract, pack } from 'tar-stream';
import { addTarEntry } from '#runtime/tar-entry.ts';

/** An archive entry whose bytes are still to be read. */
export type Entry = Extract extends AsyncIterable<infer E> ? E : never;

/** Larger caches are not stored; the next build then starts with the previous ones. */
const cacheBytesMax = 128 * 1_048_576;
const cacheFilesMax = 20_000;

/**
 * Repacks `cache/…` entries up to the entry `end`: regular files with normalised names, within the limits. Rejects on
 * anything else, and then `onCache` gets a stream that fails. It gets only what is in the folder, and is not called without any of it.
 */
export async function passCache(
  reading: AsyncGenerator<Entry>,
  onCache: (content: Readable) => Promise<void>,
  folder = '',
): Promise<void> {
  const tar = pack();
  // Without a listener, an error before the first read would end the process.
  tar.on('error', () => {});
  let kept: Promise<void> | undefined;
  let left = { bytes: cacheBytesMax, files: cacheFilesMax };
  try {
    for (let next = await reading.next(); ; next = await reading.next()) {
      if (next.done) throw new Error('The cache stream ended unexpectedly.');
      const entry = next.value;
      const { name, size = 0 } = entry.header;
      if (name === 'end') break;
      left = { bytes: left.bytes - size, files: left.files - 1 };
      checkEntry(entry, left);
      if (!name.startsWith(`cache/${folder}`)) {
        entry.resume();
        continue;
      }
      kept ??= onCache(Readable.from(tar, { objectMode: false }));
      kept.catch(() => tar.destroy());
      await addTarEntry(tar, { name: name.slice('cache/'.length), mtime: new Date(0) }, await buffer(entry));
    }
    tar.finalize();
  } catch (error) {
    tar.destroy(error as Error);
    await kept?.catch(() => {});
    throw error;
  }
  await kept;
}

function checkEntry({ header: { name, type } }: Entry, left: { bytes: number; files: number }): void {
  const parts = name.split('/');
  const plain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) <= 255);
  if (
    type !== 'file' ||
    parts[0] !== 'cache' ||
    parts.length < 2 ||
    !plain ||
    name.length > 1024 ||
    name.includes('\0')
  )
    throw new Error('The caches contain an entry that is not a regular file.');
  if (left.bytes < 0 || left.files < 0) throw new Error('The caches exceed the size limit.');
}
