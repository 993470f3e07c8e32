import type { ByteReader } from '#git/rules/structure/byte-reader.ts';
import { behindScan, nextMarker } from '#git/rules/structure/images.ts';
import { exifWith, orientationOf, withoutPrefix } from './exif.ts';
import { type Pieces, UnreadablePhoto } from './pieces.ts';

const [app0, app1, app2, app14, startOfScan, endOfImage] = [0xe0, 0xe1, 0xe2, 0xee, 0xda, 0xd9];

/**
 * JPEG (ITU-T T.81, annex B): keeps the segments that a decoder needs, the colour profile, and an orientation. All
 * other segments are removed, and all that follows the image: further pictures (CIPA DC-007) and films of phones.
 */
export async function planJpeg(reader: ByteReader, pieces: Pieces): Promise<void> {
  await reader.skip(2);
  pieces.keep(0, 2);
  let orientation: number | undefined;
  let marker = await nextMarker(reader);
  while (marker !== endOfImage) {
    const start = reader.position() - 2;
    const data = await segment(reader, marker);
    if (isPicture(marker)) pieces.keep(start, reader.position());
    else if (marker === app1 && isNamed(data, 'Exif\0') && orientation === undefined) {
      orientation = orientationOf(withoutPrefix(data));
      if (orientation !== undefined) pieces.put(written(app1, Buffer.from('Exif\0\0'), exifWith(orientation)));
    } else if (marker === app0 && isNamed(data, 'JFIF\0') && data.length >= 14) {
      // Without its thumbnail.
      pieces.put(written(app0, data.subarray(0, 12), Buffer.alloc(2)));
    } else if (marker === app2 && isNamed(data, 'ICC_PROFILE\0')) pieces.keep(start, reader.position());
    // Says how the colours are encoded.
    else if (marker === app14 && isNamed(data, 'Adobe')) pieces.put(written(app14, data.subarray(0, 12)));
    const scanStart = reader.position();
    if (marker !== startOfScan) marker = await nextMarker(reader);
    else {
      marker = await behindScan(reader);
      pieces.keep(scanStart, reader.position() - 2);
    }
  }
  pieces.keep(reader.position() - 2, reader.position());
}

async function segment(reader: ByteReader, marker: number | undefined): Promise<Buffer> {
  if (marker === undefined || marker < 0xc0 || marker === 0xd8) throw new UnreadablePhoto();
  const length = (await reader.take(2)).readUInt16BE(0) - 2;
  if (length < 0) throw new UnreadablePhoto();
  return await reader.take(length);
}

/** Frames, tables and scans. */
const isPicture = (marker: number | undefined) =>
  marker !== undefined && (marker <= 0xcf || (marker >= startOfScan && marker <= 0xdf));

const isNamed = (data: Buffer, name: string) => data.toString('latin1', 0, name.length) === name;

function written(marker: number, ...parts: Buffer[]): Buffer {
  const data = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([0xff, marker, 0, data.length + 2]), data]);
}
