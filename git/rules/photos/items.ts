/** The items of a HEIF file (ISO/IEC 23008-12 and 14496-12, section 8.11): which bytes are pictures, and which are not. */
import { type Box, BoxReader, boxesIn, theBox } from './boxes.ts';
import { UnreadablePhoto } from './pieces.ts';

export type Range = { from: number; to: number };
/** Where bytes of items are: in the file, or in the `idat` box from its start. */
export type Extents = { file: Range[]; idat: Range[] };
export type Items = { pictures: Extents; others: Extents };

/** AV1 images, and those composed of others. */
const pictureTypes = new Set(['av01', 'grid', 'iovl', 'iden', 'tmap']);

/** Reads the items of a `meta` box and erases their names. */
export function itemsOf(meta: Buffer, children: readonly Box[]): Items {
  const pictures = pictureIds(meta, theBox(children, 'iinf'));
  if (!pictures.has(primaryId(meta, theBox(children, 'pitm')))) throw new UnreadablePhoto();
  const items: Items = { pictures: { file: [], idat: [] }, others: { file: [], idat: [] } };
  for (const { id, inData, ranges } of locations(meta, theBox(children, 'iloc'))) {
    const extents = pictures.has(id) ? items.pictures : items.others;
    (inData ? extents.idat : extents.file).push(...ranges);
  }
  for (const place of ['file', 'idat'] as const) {
    items.pictures[place] = merged(items.pictures[place]);
    items.others[place] = merged(items.others[place]);
    if (overlap(items.pictures[place], items.others[place])) throw new UnreadablePhoto();
  }
  return items;
}

function primaryId(meta: Buffer, pitm: Box): number {
  const reader = new BoxReader(meta, pitm);
  return reader.number(reader.number(4) >>> 24 === 0 ? 2 : 4);
}

function pictureIds(meta: Buffer, iinf: Box): Set<number> {
  const pictures = new Set<number>();
  const countBytes = meta[iinf.body] === 0 ? 2 : 4;
  for (const box of boxesIn(meta, iinf.body + 4 + countBytes, iinf.end)) {
    const version = meta[box.body] ?? 0;
    if (box.type !== 'infe' || version < 2) throw new UnreadablePhoto();
    const reader = new BoxReader(meta, box);
    reader.number(4);
    const id = reader.number(version === 2 ? 2 : 4);
    reader.number(2);
    const type = reader.number(4);
    if (pictureTypes.has(fourLetters(type))) pictures.add(id);
    meta.fill(0, reader.at, box.end);
  }
  return pictures;
}

function fourLetters(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('latin1');
}

// A picture of a phone has up to a hundred tiles.
const extentsMax = 4_096;

type Location = { id: number; inData: boolean; ranges: Range[] };

function* locations(meta: Buffer, iloc: Box): Generator<Location> {
  const reader = new BoxReader(meta, iloc);
  const version = reader.number(4) >>> 24;
  if (version > 2) throw new UnreadablePhoto();
  const sizes = reader.number(2);
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15];
  const indexBytes = version === 0 ? 0 : sizes & 15;
  if ([offsetBytes, lengthBytes, baseBytes, indexBytes].some((bytes) => ![0, 4, 8].includes(bytes))) {
    throw new UnreadablePhoto();
  }
  let all = 0;
  const idBytes = version === 2 ? 4 : 2;
  for (let left = reader.number(idBytes); left > 0; left--) {
    const id = reader.number(idBytes);
    const method = version === 0 ? 0 : reader.number(2) & 15;
    if (method > 1 || reader.number(2) !== 0) throw new UnreadablePhoto();
    const base = reader.number(baseBytes);
    const ranges: Range[] = [];
    for (let extents = reader.number(2); extents > 0; extents--) {
      all += 1;
      if (all > extentsMax) throw new UnreadablePhoto();
      reader.number(indexBytes);
      const from = base + reader.number(offsetBytes);
      const length = reader.number(lengthBytes);
      // Without a length, an item reaches to the end of the file.
      if (length === 0) throw new UnreadablePhoto();
      ranges.push({ from, to: from + length });
    }
    yield { id, inData: method === 1, ranges };
  }
}

/** The ranges in order, without gaps of no bytes between them. */
function merged(ranges: Range[]): Range[] {
  const result: Range[] = [];
  for (const { from, to } of ranges.sort((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

/** Whether two ordered lists have a byte in common. */
function overlap(some: readonly Range[], others: readonly Range[]): boolean {
  let index = 0;
  for (const { from, to } of some) {
    while ((others[index]?.to ?? Number.POSITIVE_INFINITY) <= from) index += 1;
    if ((others[index]?.from ?? Number.POSITIVE_INFINITY) < to) return true;
  }
  return false;
}
