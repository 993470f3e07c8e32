/**
 * Parses the structure of an image to its last byte, without decoding it: whether it is complete, whether other data is
 * hidden behind it, and how many pixels it decodes to.
 */
import { crc32, inflateSync } from 'node:zlib';
import type { ByteReader } from './byte-reader.ts';

/** Width and height, the number of frames, or the fault, as the end of "its contents …". */
export type Walked = { width: number; height: number; frames: number } | { fault: string };

const textBytesMax = 1_048_576;
/** Of all texts and profiles of an image together. */
const unpackedBytesMax = 8_388_608;

/** PNG (third edition, sections 5 and 11), APNG included. */
export async function walkPng(reader: ByteReader): Promise<Walked> {
  await reader.skip(8);
  let size = { width: 0, height: 0 };
  let [frames, unpackedLeft] = [0, unpackedBytesMax];
  for (let first = true; ; first = false) {
    const header = await reader.take(8);
    const length = header.readUInt32BE(0);
    const type = header.toString('latin1', 4, 8);
    if (!/^[A-Za-z]{4}$/.test(type) || first !== (type === 'IHDR')) return { fault: 'are not a complete PNG' };
    let sum = crc32(header.subarray(4));
    const kept: Buffer[] = [];
    const isKept = ['IHDR', 'zTXt', 'iTXt', 'iCCP'].includes(type);
    if (isKept && length > textBytesMax) return { fault: `include a ${type} chunk larger than 1 MiB` };
    await reader.each(length, (bytes) => {
      sum = crc32(bytes, sum);
      if (isKept) kept.push(bytes);
    });
    if ((await reader.take(4)).readUInt32BE(0) !== sum) return { fault: 'are damaged: a checksum does not match' };
    const data = Buffer.concat(kept);
    if (type === 'IHDR') size = { width: data.readUInt32BE(0), height: data.readUInt32BE(4) };
    if (type === 'fcTL') frames += 1;
    if (isKept && type !== 'IHDR') unpackedLeft -= unpackedBytes(type, data, unpackedLeft);
    if (unpackedLeft < 0) return { fault: 'include texts and profiles that decompress to more than 8 MiB' };
    if (type === 'IEND') break;
  }
  return { ...size, frames: Math.max(1, frames), ...(await hidden(reader)) };
}

/** The size after decompression; infinite if it is more than `most`. Text that cannot be decompressed has none. */
function unpackedBytes(type: string, data: Buffer, most: number): number {
  let start = data.indexOf(0) + 2;
  if (type === 'iTXt') {
    if (data[start - 1] !== 1) return 0;
    start = data.indexOf(0, data.indexOf(0, start + 1) + 1) + 1;
  }
  try {
    return inflateSync(data.subarray(start), { maxOutputLength: Math.max(1, most) }).length;
  } catch (error) {
    return (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? Number.POSITIVE_INFINITY : 0;
  }
}

/**
 * JPEG (ITU-T T.81, annex B). Phones append a second JPEG or a short video, editors and agencies a line or a record. A
 * decoder stops before them, and the file is served as an image only.
 */
export async function walkJpeg(reader: ByteReader): Promise<Walked> {
  await reader.skip(2);
  let size: { width: number; height: number } | undefined;
  let scans = 0;
  let marker = await nextMarker(reader);
  while (marker !== 0xd9) {
    if (marker === undefined || marker < 0xc0 || marker === 0xd8) return { fault: 'are not a complete JPEG' };
    const length = (await reader.take(2)).readUInt16BE(0) - 2;
    if (length < 0) return { fault: 'are not a complete JPEG' };
    const isFrame = marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame && length < 5) return { fault: 'are not a complete JPEG' };
    const segment = isFrame ? await reader.take(length) : undefined;
    if (segment) size = { height: segment.readUInt16BE(1), width: segment.readUInt16BE(3) };
    else await reader.skip(length);
    if (marker === 0xda) scans += 1;
    marker = marker === 0xda ? await behindScan(reader) : await nextMarker(reader);
  }
  if (!size || scans === 0) return { fault: 'are not a complete JPEG' };
  return { ...size, frames: 1, ...(await behindJpeg(reader)) };
}

/** The marker that has to follow; undefined if there is another byte. */
export async function nextMarker(reader: ByteReader): Promise<number | undefined> {
  if ((await reader.byte()) !== 0xff) return undefined;
  for (;;) {
    const byte = await reader.byte();
    if (byte !== 0xff) return byte;
  }
}

/** The first marker behind the data of a scan. */
export async function behindScan(reader: ByteReader): Promise<number> {
  for (;;) {
    await reader.skipPast(0xff);
    let byte = 0xff;
    while (byte === 0xff) byte = await reader.byte();
    if (byte !== 0 && (byte < 0xd0 || byte > 0xd7)) return byte;
  }
}

const trailerBytesMax = 65_536;
/** Archives and documents, which are found behind other bytes; other images and programs, which begin with these. */
const otherFile = /PK\p{Cc}{2}|%PDF-|Rar!|7z\xbc\xaf|ELF|^MZ|^\p{Cc}\x8b|^GIF8|^\x89PNG|^RIFF|<[!?a-z]/iu;

async function behindJpeg(reader: ByteReader): Promise<{ fault?: string }> {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let bytes = 0;
  while (!(await reader.atEnd())) {
    const chunk = await reader.chunk();
    const start = head.length > 0 ? 0 : chunk.findIndex((byte) => byte !== 0);
    if (start !== -1 && head.length < trailerBytesMax)
      head = Buffer.concat([head, chunk.subarray(start, start + trailerBytesMax)]);
    tail = Buffer.concat([tail, chunk.subarray(-4)]).subarray(-4);
    if (start !== -1) bytes += chunk.length - start;
  }
  const isJpeg = head.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]));
  // The zeros at the start of a box's length were skipped.
  const isFilm = head.subarray(0, 12).includes('ftyp');
  const isPhones = tail.toString('latin1') === 'SEFT';
  const isTrailer = bytes <= trailerBytesMax && !otherFile.test(head.toString('latin1'));
  return isJpeg || isFilm || isPhones || isTrailer ? {} : { fault: 'include another file after the image' };
}

/** GIF89a, sections 15 to 27. */
export async function walkGif(reader: ByteReader): Promise<Walked> {
  const header = await reader.take(13);
  // With a width that reads as the start of a comment or an assignment, the whole file is valid JavaScript.
  if (/^(\/\*|=|\/\/)/.test(header.toString('latin1', 6, 8))) return { fault: 'could be interpreted as a script' };
  const size = { width: header.readUInt16LE(6), height: header.readUInt16LE(8) };
  await reader.skip(tableBytes(header.readUInt8(10)));
  let frames = 0;
  for (;;) {
    const kind = await reader.byte();
    if (kind === 0x3b) break;
    if (kind === 0x2c) {
      frames += 1;
      await reader.skip(tableBytes((await reader.take(9)).readUInt8(8)) + 1);
    } else if (kind === 0x21) await reader.skip(1);
    else return { fault: 'are not a complete GIF' };
    for (let length = 1; length > 0; await reader.skip(length)) length = await reader.byte();
  }
  if (frames === 0) return { fault: 'do not include an image' };
  return { ...size, frames, ...(await hidden(reader)) };
}

const tableBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

/** WebP (RFC 9649, section 2). */
export async function walkWebp(reader: ByteReader): Promise<Walked> {
  const end = (await reader.take(12)).readUInt32LE(4) + 8;
  let size: { width: number; height: number } | undefined;
  let frames = 0;
  while (reader.position() < end) {
    const header = await reader.take(8);
    const type = header.toString('latin1', 0, 4);
    const length = header.readUInt32LE(4);
    const head = await reader.take(Math.min(length, 10));
    size ??= webpSize(type, head);
    if (type === 'ANMF') frames += 1;
    if (!size) return { fault: 'are not a complete WebP' };
    await reader.skip(length - head.length + (length % 2));
  }
  if (!size || reader.position() !== end) return { fault: 'are not a complete WebP' };
  return { ...size, frames: Math.max(1, frames), ...(await hidden(reader)) };
}

function webpSize(type: string, head: Buffer): { width: number; height: number } | undefined {
  if (head.length < 10 && !(type === 'VP8L' && head.length >= 5)) return undefined;
  if (type === 'VP8X') return { width: head.readUIntLE(4, 3) + 1, height: head.readUIntLE(7, 3) + 1 };
  if (type === 'VP8 ') return { width: head.readUInt16LE(6) & 0x3fff, height: head.readUInt16LE(8) & 0x3fff };
  if (type !== 'VP8L' || head[0] !== 0x2f) return undefined;
  const bits = head.readUInt32LE(1);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

/** Trailing zeros are padding; any other data behind the image is not part of it. */
async function hidden(reader: ByteReader): Promise<{ fault?: string }> {
  while (!(await reader.atEnd())) {
    if ((await reader.chunk()).some((byte) => byte !== 0)) return { fault: 'include another file after the image' };
  }
  return {};
}
