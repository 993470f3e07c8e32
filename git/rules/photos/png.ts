import { crc32 } from 'node:zlib';
import type { ByteReader } from '#git/rules/structure/byte-reader.ts';
import { exifWith, orientationOf } from './exif.ts';
import { type Pieces, UnreadablePhoto } from './pieces.ts';

/** What a decoder needs, colours and animation (PNG, third edition, section 11). */
const kept = new Set(
  'IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI bKGD hIST pHYs sPLT acTL fcTL fdAT'.split(' '),
);
const exifBytesMax = 1_048_576;

/** PNG: keeps these chunks and an orientation. All other chunks are removed, and all that follows the image. */
export async function planPng(reader: ByteReader, pieces: Pieces): Promise<void> {
  await reader.skip(8);
  pieces.keep(0, 8);
  let orientation: number | undefined;
  for (let type = ''; type !== 'IEND'; ) {
    const start = reader.position();
    const header = await reader.take(8);
    const length = header.readUInt32BE(0);
    type = header.toString('latin1', 4, 8);
    if (!/^[A-Za-z]{4}$/.test(type)) throw new UnreadablePhoto();
    if (type === 'eXIf' && length <= exifBytesMax && orientation === undefined) {
      orientation = orientationOf(await reader.take(length));
      if (orientation !== undefined) pieces.put(chunk('eXIf', exifWith(orientation)));
    } else await reader.skip(length);
    await reader.skip(4);
    if (kept.has(type)) pieces.keep(start, reader.position());
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const result = Buffer.alloc(data.length + 12);
  result.writeUInt32BE(data.length, 0);
  result.write(type, 4, 'latin1');
  data.copy(result, 8);
  result.writeUInt32BE(crc32(result.subarray(4, -4)), data.length + 8);
  return result;
}
