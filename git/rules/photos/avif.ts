/**
 * AVIF: positions inside the file refer to its bytes, so nothing moves. Metadata is replaced by zeros and its boxes by
 * free space. The orientation is a property of the picture (`irot`, `imir`), which stays.
 */
import type { ByteReader } from '#git/rules/structure/byte-reader.ts';
import { type Box, boxesIn, free, theBox } from './boxes.ts';
import { exifWith } from './exif.ts';
import { type Extents, type Items, itemsOf, type Range } from './items.ts';
import { type Pieces, UnreadablePhoto } from './pieces.ts';

const words = (text: string) => new Set(text.split(' '));
const keptInMeta = words('hdlr pitm iinf iloc iref iprp idat dinf grpl');
const properties = words('ispe pixi colr av1C irot imir auxC clap pasp a1op a1lx lsel clli mdcv cclv amve reve ndwt');
const keptInMovie = words(
  'mvhd trak tkhd edts elst mdia mdhd hdlr minf vmhd dinf stbl stsd stts stsc stsz stco co64 stss ctts tref mvex trex',
);
const containers = words('trak edts mdia minf stbl');
const metaBytesMax = 4_194_304;
const boxesMax = 64;
const depthMax = 8;

type TopBox = Box & { bytes?: Buffer };

/** Keeps the bytes of pictures; everything else in the file's data becomes zeros. */
export async function planAvif(reader: ByteReader, pieces: Pieces): Promise<void> {
  const boxes = await readBoxes(reader);
  const { bytes: meta } = theBox(boxes, 'meta') as TopBox;
  if (!meta) throw new UnreadablePhoto();
  const items = cleanMeta(meta);
  const movie = boxes.find(({ type }) => type === 'moov');
  if (movie?.bytes) cleanMovie(movie.bytes, 8, movie.bytes.length);
  for (const { type, start, body, end, bytes } of boxes) {
    if (bytes) pieces.put(bytes);
    else if (type === 'ftyp') pieces.keep(start, end);
    else if (type === 'mdat') {
      pieces.keep(start, body);
      planData(pieces, { from: body, to: end }, items, movie !== undefined);
    } else {
      pieces.keep(start, start + 4);
      pieces.put(Buffer.from('free'));
      pieces.keep(start + 8, body);
      pieces.zeros(end - body);
    }
  }
}

async function readBoxes(reader: ByteReader): Promise<TopBox[]> {
  const boxes: TopBox[] = [];
  while (!(await reader.atEnd())) {
    const start = reader.position();
    const head = await reader.take(8);
    const type = head.toString('latin1', 4, 8);
    const isLarge = head.readUInt32BE(0) === 1;
    const length = isLarge ? Number((await reader.take(8)).readBigUInt64BE()) : head.readUInt32BE(0);
    const body = reader.position();
    const end = start + length;
    if (end < body || boxes.length >= boxesMax) throw new UnreadablePhoto();
    const isRead = type === 'meta' || type === 'moov';
    if (isRead && (isLarge || length > metaBytesMax)) throw new UnreadablePhoto();
    const bytes = isRead ? { bytes: Buffer.concat([head, await reader.take(end - body)]) } : {};
    if (!isRead) await reader.skip(end - body);
    boxes.push({ type, start, body, end, ...bytes });
  }
  return boxes;
}

function cleanMeta(meta: Buffer): Items {
  const children = boxesIn(meta, 12, meta.length);
  requireHandler(meta, theBox(children, 'hdlr'), ['pict']);
  const items = itemsOf(meta, children);
  for (const box of children) {
    if (!keptInMeta.has(box.type)) free(meta, box);
    if (box.type === 'idat') cleanRange(meta, box, items.pictures.idat);
  }
  const inProperties = boxesIn(meta, ...inside(theBox(children, 'iprp')));
  for (const box of boxesIn(meta, ...inside(theBox(inProperties, 'ipco')))) {
    if (!properties.has(box.type)) free(meta, box);
  }
  return items;
}

const inside = ({ body, end }: Box): [number, number] => [body, end];

/** The kind of a track or of metadata; its name is erased. */
function requireHandler(bytes: Buffer, { body, end }: Box, kinds: readonly string[]): void {
  if (end - body < 20 || !kinds.includes(bytes.toString('latin1', body + 8, body + 12))) throw new UnreadablePhoto();
  bytes.fill(0, body + 20, end);
}

/** Zeros in place of the bytes of `idat` that belong to no picture. */
function cleanRange(meta: Buffer, { body, end }: Box, kept: readonly Range[]): void {
  let at = body;
  for (const { from, to } of kept) {
    meta.fill(0, at, Math.min(end, body + from));
    at = Math.min(end, Math.max(at, body + to));
  }
  meta.fill(0, at, end);
}

/** An animation: only tracks of pictures, without descriptions. */
function cleanMovie(bytes: Buffer, from: number, to: number, depth = 1): void {
  if (depth > depthMax) throw new UnreadablePhoto();
  for (const box of boxesIn(bytes, from, to)) {
    if (!keptInMovie.has(box.type)) free(bytes, box);
    if (box.type === 'hdlr') requireHandler(bytes, box, ['pict', 'auxv']);
    if (containers.has(box.type)) cleanMovie(bytes, box.body, box.end, depth + 1);
  }
}

/** The data of a `mdat` box. In an animation, tracks refer to it too: there, only the bytes of other items are removed. */
function planData(pieces: Pieces, data: Range, { pictures, others }: Items, isAnimation: boolean): void {
  let at = data.from;
  for (const { from, to } of within(isAnimation ? others : pictures, data)) {
    if (isAnimation) {
      pieces.keep(at, from);
      putEmpty(pieces, to - from);
    } else {
      planRemoved(pieces, { from: at, to: from }, others);
      pieces.keep(from, to);
    }
    at = to;
  }
  if (isAnimation) pieces.keep(at, data.to);
  else planRemoved(pieces, { from: at, to: data.to }, others);
}

function planRemoved(pieces: Pieces, data: Range, others: Extents): void {
  let at = data.from;
  for (const { from, to } of within(others, data)) {
    pieces.zeros(from - at);
    putEmpty(pieces, to - from);
    at = to;
  }
  pieces.zeros(data.to - at);
}

/** The parts of the ranges that are between two positions. */
function* within({ file }: Extents, data: Range): Generator<Range> {
  for (const range of file) {
    const [from, to] = [Math.max(range.from, data.from), Math.min(range.to, data.to)];
    if (from < to) yield { from, to };
  }
}

/** An item that is EXIF data stays readable: it begins with the offset of the TIFF. */
function putEmpty(pieces: Pieces, bytes: number): void {
  const empty = Buffer.concat([Buffer.alloc(4), exifWith(1)]);
  if (bytes >= empty.length) pieces.put(empty);
  pieces.zeros(bytes - (bytes >= empty.length ? empty.length : 0));
}
