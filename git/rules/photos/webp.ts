import type { ByteReader } from '#git/rules/structure/byte-reader.ts';
import { exifWith, orientationOf, withoutPrefix } from './exif.ts';
import { type Pieces, UnreadablePhoto } from './pieces.ts';

const kept = new Set(['VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ICCP']);
const keptInFrame = new Set(['VP8 ', 'VP8L', 'ALPH']);
const exifBytesMax = 1_048_576;
const frameHeadBytes = 16;
const [exifFlag, xmpFlag] = [8, 4];

/** WebP (RFC 9649, section 2): keeps images, the colour profile, animation and an orientation. */
export async function planWebp(reader: ByteReader, pieces: Pieces): Promise<void> {
  const head = Buffer.from(await reader.take(12));
  const end = head.readUInt32LE(4) + 8;
  pieces.put(head);
  let extended: Buffer | undefined;
  let orientation: number | undefined;
  while (reader.position() < end) {
    const start = reader.position();
    const { type, length } = await chunkHead(reader);
    if (type === 'VP8X' && extended === undefined && length >= 10) {
      extended = Buffer.concat([headOf('VP8X', 10), await reader.take(10)]);
      pieces.put(extended);
      await reader.skip(length - 10);
    } else if (type === 'EXIF' && length <= exifBytesMax && orientation === undefined) {
      orientation = orientationOf(withoutPrefix(await reader.take(length)));
    } else if (type === 'ANMF') await planFrame(reader, pieces, length);
    else await reader.skip(length);
    await reader.skip(length % 2);
    if (kept.has(type)) pieces.keep(start, reader.position());
  }
  if (reader.position() !== end) throw new UnreadablePhoto();
  const isOriented = extended !== undefined && orientation !== undefined;
  if (extended) extended[8] = ((extended[8] ?? 0) & ~(exifFlag | xmpFlag)) | (isOriented ? exifFlag : 0);
  if (isOriented) pieces.put(Buffer.concat([headOf('EXIF', 26), exifWith(orientation as number)]));
  head.writeUInt32LE(pieces.bytes() - 8, 4);
}

/** A frame of an animation has chunks of its own. */
async function planFrame(reader: ByteReader, pieces: Pieces, length: number): Promise<void> {
  const end = reader.position() + length;
  const head = headOf('ANMF', 0);
  pieces.put(Buffer.concat([head, await reader.take(frameHeadBytes)]));
  const written = pieces.list.at(-1) as { bytes: Buffer };
  let bytes = frameHeadBytes;
  while (reader.position() < end) {
    const start = reader.position();
    const chunk = await chunkHead(reader);
    await reader.skip(chunk.length + (chunk.length % 2));
    if (!keptInFrame.has(chunk.type)) continue;
    pieces.keep(start, reader.position());
    bytes += reader.position() - start;
  }
  if (reader.position() !== end) throw new UnreadablePhoto();
  written.bytes.writeUInt32LE(bytes, 4);
}

async function chunkHead(reader: ByteReader): Promise<{ type: string; length: number }> {
  const head = await reader.take(8);
  return { type: head.toString('latin1', 0, 4), length: head.readUInt32LE(4) };
}

function headOf(type: string, length: number): Buffer {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32LE(length, 4);
  return head;
}
