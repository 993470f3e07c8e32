/** Photos without the place where they were taken, and without other metadata. Pixels are never decoded. */
import { planAvif } from './photos/avif.ts';
import { planJpeg } from './photos/jpeg.ts';
import { namesLocation } from './photos/location.ts';
import { type Piece, Pieces, UnreadablePhoto } from './photos/pieces.ts';
import { planPng } from './photos/png.ts';
import { planWebp } from './photos/webp.ts';
import { ByteReader, UnexpectedEnd } from './structure/byte-reader.ts';

/** A file's bytes from the start; can be called repeatedly. */
export type Read = () => AsyncIterable<Buffer>;

/** What is left of a photo; `unreadable` if its metadata cannot be found. */
export type Plan = readonly Piece[] | 'unreadable';

const plans = { jpeg: planJpeg, png: planPng, webp: planWebp, avif: planAvif };
const headBytes = 64;

/** Whether a valid file of this name may be a photo in one of these formats: an icon may be a PNG. */
export const isPhotoName = (path: string): boolean => /\.(jpe?g|png|webp|avif|ico)$/i.test(path);

/** What of this file is stored. Undefined for a file that is no JPEG, PNG, WebP or AVIF. */
export async function planPhoto(read: Read): Promise<Plan | undefined> {
  const format = formatOf(await headOf(read()));
  if (!format) return undefined;
  const pieces = new Pieces();
  const reader = new ByteReader(read());
  try {
    await plans[format](reader, pieces);
    return pieces.list;
  } catch (error) {
    if (error instanceof UnreadablePhoto || error instanceof UnexpectedEnd) return 'unreadable';
    throw error;
  } finally {
    await reader.close();
  }
}

/** The stored bytes. The removed ones are passed to `removed`. */
export async function* applyPlan(
  read: Read,
  plan: readonly Piece[],
  removed: (bytes: Buffer) => void = () => {},
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(read());
  try {
    for (const piece of plan) {
      if ('bytes' in piece) yield piece.bytes;
      else if ('zeros' in piece) yield* zeros(piece.zeros);
      else {
        await reader.each(piece.from - reader.position(), removed);
        while (reader.position() < piece.to) yield await reader.upTo(piece.to - reader.position());
      }
    }
    while (!(await reader.atEnd())) removed(await reader.chunk());
  } finally {
    await reader.close();
  }
}

// Metadata of photos has some ten thousand bytes; a film of a phone has megabytes, and says its place at an end.
const searchedBytesMax = 4_194_304;

/** Whether a file is a photo that says where it was taken. Reads to the end of a photo, and no more than the head of others. */
export async function isLocated(read: Read): Promise<boolean> {
  const plan = await planPhoto(read);
  if (plan === undefined || plan === 'unreadable') return false;
  const found: Buffer[] = [];
  let bytes = 0;
  const collect = (chunk: Buffer) => {
    found.push(chunk);
    bytes += chunk.length;
    while (bytes > searchedBytesMax && found.length > 2) bytes -= found.splice(1, 1)[0]?.length ?? 0;
  };
  for await (const _kept of applyPlan(read, plan, collect));
  return namesLocation(Buffer.concat(found));
}

const zerosMax = 65_536;

function* zeros(count: number): Generator<Buffer> {
  for (let left = count; left > 0; left -= zerosMax) yield Buffer.alloc(Math.min(left, zerosMax));
}

async function headOf(content: AsyncIterable<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  for await (const chunk of content) {
    head = Buffer.concat([head, chunk.subarray(0, headBytes)]);
    if (head.length >= headBytes) break;
  }
  return head.subarray(0, headBytes);
}

/** The format by its first bytes. */
function formatOf(head: Buffer): keyof typeof plans | undefined {
  const text = head.toString('latin1');
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'webp';
  const brands = text.startsWith('ftyp', 4) ? text.slice(8, head.readUInt32BE(0)) : '';
  return /^(.{4})*avi[fs]/s.test(brands) ? 'avif' : undefined;
}
