/** Parses formats whose parts are at known offsets: AVIF, TIFF, fonts, PDF. Decodes nothing. */

import type { ByteReader } from './byte-reader.ts';
import type { Walked } from './images.ts';

const metaBytesMax = 1_048_576;
const fontBytesMax = 67_108_864;

/** The fault of a file without pixels, as the end of "its contents …". */
type Fault = string | undefined;

/** AVIF: boxes of ISO/IEC 14496-12 up to the last byte; `ispe` contains the sizes of the images. */
export async function walkAvif(reader: ByteReader): Promise<Walked> {
  const sizes: { width: number; height: number }[] = [];
  while (!(await reader.atEnd())) {
    const header = await reader.take(8);
    const type = header.toString('latin1', 4, 8);
    let length = header.readUInt32BE(0) - 8;
    if (header.readUInt32BE(0) === 1) length = Number((await reader.take(8)).readBigUInt64BE()) - 16;
    if (!/^[\x20-\x7e]{4}$/.test(type) || length < 0) return { fault: 'are not a complete AVIF' };
    if (type !== 'meta') {
      await reader.skip(length);
      continue;
    }
    if (length > metaBytesMax) return { fault: 'include more than 1 MiB of metadata' };
    sizes.push(...pictureSizes(await reader.take(length)));
  }
  const [largest] = sizes.sort((a, b) => b.width * b.height - a.width * a.height);
  return largest ? { ...largest, frames: 1 } : { fault: 'do not specify the image size' };
}

function* pictureSizes(meta: Buffer): Generator<{ width: number; height: number }> {
  for (let at = meta.indexOf('ispe'); at !== -1 && at + 16 <= meta.length; at = meta.indexOf('ispe', at + 4)) {
    yield { width: meta.readUInt32BE(at + 8), height: meta.readUInt32BE(at + 12) };
  }
}

/** TIFF 6.0, section 2: the directory may be at any offset, so the whole file is read. */
export async function walkTiff(reader: ByteReader): Promise<Walked> {
  const pieces: Buffer[] = [];
  while (!(await reader.atEnd())) pieces.push(await reader.chunk());
  const file = Buffer.concat(pieces);
  const little = file[0] === 0x49;
  const u16 = (at: number) => (little ? file.readUInt16LE(at) : file.readUInt16BE(at));
  const u32 = (at: number) => (little ? file.readUInt32LE(at) : file.readUInt32BE(at));
  const broken = { fault: 'are not a complete TIFF' };
  try {
    if (u16(2) !== 42) return broken;
    const value = { 256: 0, 257: 0 } as Record<number, number>;
    const directory = u32(4);
    for (let index = 0; index < u16(directory); index++) {
      const at = directory + 2 + index * 12;
      const tag = u16(at);
      if (tag === 256 || tag === 257) value[tag] = u16(at + 2) === 3 ? u16(at + 8) : u32(at + 8);
      const bytes = ([0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8][u16(at + 2)] ?? 1) * u32(at + 4);
      if (bytes > 4 && u32(at + 8) + bytes > file.length) return broken;
    }
    // The directory ends with the offset of the next one.
    u32(directory + 2 + u16(directory) * 12);
    return { width: value[256] ?? 0, height: value[257] ?? 0, frames: 1 };
  } catch {
    return broken;
  }
}

/** WOFF and WOFF2 contain their own length, and that of the decompressed font. */
export async function walkWoff(reader: ByteReader): Promise<Fault> {
  const header = await reader.take(20);
  if (header.readUInt32BE(16) > fontBytesMax) return 'decompress to a font larger than 64 MiB';
  await reader.skip(Math.max(0, header.readUInt32BE(8) - 20));
  return (await reader.atEnd()) ? undefined : 'include another file after the font';
}

/** OpenType: each table of the directory is inside the file, and nothing follows the last one. */
export async function walkSfnt(reader: ByteReader): Promise<Fault> {
  const tables = (await reader.take(12)).readUInt16BE(4);
  if (tables === 0) return 'do not include any font tables';
  const directory = await reader.take(tables * 16);
  let end = reader.position();
  for (let at = 0; at < directory.length; at += 16) {
    end = Math.max(end, directory.readUInt32BE(at + 8) + directory.readUInt32BE(at + 12));
  }
  await reader.skip(end - reader.position());
  for (let padding = 0; !(await reader.atEnd()); padding++) {
    if (padding > 3 || (await reader.byte()) !== 0) return 'include another file after the font';
  }
  return undefined;
}

/** PDF (ISO 32000-2, section 7.5): complete, and without anything that a viewer would execute. */
export async function walkPdf(reader: ByteReader): Promise<Fault> {
  let before = '';
  while (!(await reader.atEnd())) {
    const text = before + (await reader.chunk()).toString('latin1');
    const active = /\/(JavaScript|JS|Launch)(?![A-Za-z])/.exec(text);
    if (active) return `include an action that runs when the file is opened (${active[0]})`;
    before = text.slice(-1100);
  }
  return before.includes('%%EOF') ? undefined : 'end unexpectedly';
}
