import { UnreadablePhoto } from './pieces.ts';

/** A box of ISO/IEC 14496-12 by its positions: of its header, of its contents, and behind it. */
export type Box = { type: string; start: number; body: number; end: number };

/** The boxes between two positions, which they fill completely. */
export function boxesIn(bytes: Buffer, from: number, to: number): Box[] {
  const boxes: Box[] = [];
  for (let start = from; start < to; ) {
    if (start + 8 > to) throw new UnreadablePhoto();
    const size = bytes.readUInt32BE(start);
    const isLarge = size === 1 && start + 16 <= to;
    const length = isLarge ? Number(bytes.readBigUInt64BE(start + 8)) : size;
    const body = start + (isLarge ? 16 : 8);
    if (length < body - start || start + length > to) throw new UnreadablePhoto();
    boxes.push({ type: bytes.toString('latin1', start + 4, start + 8), start, body, end: start + length });
    start += length;
  }
  return boxes;
}

/** Turns a box into free space of the same length, so that all positions stay true. */
export function free(bytes: Buffer, { start, body, end }: Box): void {
  bytes.write('free', start + 4, 'latin1');
  bytes.fill(0, body, end);
}

/** The only box of this type. */
export function theBox(boxes: readonly Box[], type: string): Box {
  const [found, ...others] = boxes.filter((box) => box.type === type);
  if (!found || others.length > 0) throw new UnreadablePhoto();
  return found;
}

/** Reads numbers of given lengths one after another, within a box. */
export class BoxReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  at: number;

  constructor(bytes: Buffer, { body, end }: Box) {
    this.#bytes = bytes;
    this.#end = end;
    this.at = body;
  }

  /** A number of 0 to 8 bytes. */
  number(length: number): number {
    const at = this.at;
    this.at += length;
    if (this.at > this.#end) throw new UnreadablePhoto();
    if (length === 0) return 0;
    return length === 8 ? Number(this.#bytes.readBigUInt64BE(at)) : this.#bytes.readUIntBE(at, length);
  }
}
