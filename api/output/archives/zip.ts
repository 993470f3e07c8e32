/** Reads a zip that was received completely: its list of files is at its end. Nothing is unpacked to a disk. */
import { isUtf8 } from 'node:buffer';
import { type Readable, Transform } from 'node:stream';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { type Entry, fromFd, type LocalFileHeader, type Options, type ZipFile } from 'yauzl';
import { AppError } from '#runtime/errors.ts';
import { type ArchiveBounds, type ArchiveEntry, invalidArchive, tooLargeArchive } from './entries.ts';

const openZip = promisify(
  fromFd as (fd: number, options: Options, done: (error: Error | null, zip: ZipFile) => void) => void,
);

// File types of Unix in the upper half of the external attributes.
const typeMask = 0o170000;
const regularFile = 0o100000;
const madeByUnix = 3;
const flagUtf8 = 0x800;
const flagSizesFollow = 0x8;

/** Throws `invalid_file` for what is no sound archive, `plan_limit` beyond the bounds. */
export async function* readZip(
  fd: number,
  { entriesMax }: Pick<ArchiveBounds, 'entriesMax'>,
): AsyncGenerator<ArchiveEntry> {
  try {
    // Names stay bytes, so that no name is changed before it is checked.
    const zip = await openZip(fd, { lazyEntries: true, autoClose: false, decodeStrings: false });
    if (zip.entryCount > entriesMax) throw tooLargeArchive(`has more than ${entriesMax} entries`);
    for (let entry = await nextEntry(zip); entry; entry = await nextEntry(zip)) yield await entryOf(zip, entry);
  } catch (error) {
    throw error instanceof AppError ? error : invalidArchive('is not a whole zip', error);
  }
}

function nextEntry(zip: ZipFile): Promise<Entry | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      zip.removeAllListeners();
      act();
    };
    zip.once('entry', (entry) => settle(() => resolve(entry)));
    zip.once('end', () => settle(() => resolve(undefined)));
    zip.once('error', (error) => settle(() => reject(error)));
    zip.readEntry();
  });
}

async function entryOf(zip: ZipFile, entry: Entry): Promise<ArchiveEntry> {
  const raw = entry.fileName as unknown as Buffer;
  if (!isUtf8(raw)) throw invalidArchive('has a name that is not UTF-8');
  const name = raw.toString();
  await requireSameHeader(zip, entry, raw);
  return {
    name,
    kind: kindOf(entry, name),
    bytes: entry.uncompressedSize,
    async open() {
      if (entry.isEncrypted()) throw invalidArchive('has an encrypted file');
      if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
        throw invalidArchive('has a file that is compressed by another method than deflate');
      const content = await promisify(
        zip.openReadStream.bind(zip) as (entry: Entry, done: (error: Error | null, stream: Readable) => void) => void,
      )(entry);
      const checked = checkSum(entry.crc32);
      content.once('error', (error) => checked.destroy(invalidArchive('has a damaged file', error)));
      checked.once('close', () => content.destroy());
      return content.pipe(checked);
    },
  };
}

function kindOf({ externalFileAttributes, versionMadeBy }: Entry, name: string): ArchiveEntry['kind'] {
  if (name.endsWith('/')) return 'folder';
  const type = versionMadeBy >> 8 === madeByUnix ? (externalFileAttributes >>> 16) & typeMask : 0;
  return type === 0 || type === regularFile ? 'file' : 'other';
}

/** Two readers must not see two archives: each file's own header says the same as the list at the end. */
async function requireSameHeader(zip: ZipFile, entry: Entry, name: Buffer): Promise<void> {
  const read = promisify(
    zip.readLocalFileHeader.bind(zip) as (
      entry: Entry,
      done: (error: Error | null, header: LocalFileHeader) => void,
    ) => void,
  );
  const local = await read(entry);
  const sizesFollow = (local.generalPurposeBitFlag & flagSizesFollow) !== 0;
  // A zip64 header has its sizes elsewhere.
  const sameSize = (size: number, listed: number) => sizesFollow || size === 0xffffffff || size === listed;
  const isSame =
    Buffer.from(local.fileName).equals(name) &&
    local.compressionMethod === entry.compressionMethod &&
    (local.generalPurposeBitFlag & flagUtf8) === (entry.generalPurposeBitFlag & flagUtf8) &&
    sameSize(local.compressedSize, entry.compressedSize) &&
    sameSize(local.uncompressedSize, entry.uncompressedSize);
  if (!isSame) throw invalidArchive('has a list of files that disagrees with the files');
}

function checkSum(expected: number): Transform {
  let sum = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum = crc32(chunk, sum);
      done(null, chunk);
    },
    flush(done) {
      done(sum === expected ? null : invalidArchive('has a damaged file'));
    },
  });
}
