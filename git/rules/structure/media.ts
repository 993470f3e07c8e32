/** Parses icons and films: what they contain is inside their bounds, and nothing is behind it. */
import type { ByteReader } from './byte-reader.ts';

/** The fault of a file, as the end of "its contents …". */
type Fault = string | undefined;

const iconBytesMax = 4_194_304;
const iconsMax = 64;
const pngStart = 0x89504e47;

/** ICO: a directory of pictures, each a PNG or a bitmap. */
export async function walkIco(reader: ByteReader): Promise<Fault> {
  const pieces: Buffer[] = [];
  for (let bytes = 0; !(await reader.atEnd()); bytes += pieces.at(-1)?.length ?? 0) {
    if (bytes > iconBytesMax) return 'are larger than 4 MiB';
    pieces.push(await reader.chunk());
  }
  const file = Buffer.concat(pieces);
  const count = file.length < 6 ? 0 : file.readUInt16LE(4);
  let end = 6 + 16 * count;
  if (count < 1 || count > iconsMax || file.length < end) return 'are not a complete ICO';
  for (let at = 6; at < 6 + 16 * count; at += 16) {
    const [length, offset] = [file.readUInt32LE(at + 8), file.readUInt32LE(at + 12)];
    if (length < 40 || offset < 6 + 16 * count || offset + length > file.length) return 'are not a complete ICO';
    if (file.readUInt32BE(offset) !== pngStart && file.readUInt32LE(offset) !== 40) return 'are not a complete ICO';
    end = Math.max(end, offset + length);
  }
  return end === file.length ? undefined : 'include another file after the image';
}

/** MP4: boxes of ISO/IEC 14496-12 up to the last byte, among them the index of a film. */
export async function walkMp4(reader: ByteReader): Promise<Fault> {
  const broken = 'are not a complete MP4';
  let hasIndex = false;
  while (!(await reader.atEnd())) {
    const header = await reader.take(8);
    const type = header.toString('latin1', 4, 8);
    let length = header.readUInt32BE(0) - 8;
    if (header.readUInt32BE(0) === 1) length = Number((await reader.take(8)).readBigUInt64BE()) - 16;
    if (!/^[\x20-\x7e\xa9]{4}$/.test(type) || length < 0) return broken;
    hasIndex ||= type === 'moov';
    await reader.skip(length);
  }
  return hasIndex ? undefined : broken;
}

/** Reads to the end, for formats that are served as what they are called and of which only markup is looked for. */
export async function walkWhole(reader: ByteReader): Promise<Fault> {
  while (!(await reader.atEnd())) await reader.chunk();
  return undefined;
}
