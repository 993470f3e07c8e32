/** Thrown for a photo whose metadata cannot be found safely. */
export class UnreadablePhoto extends Error {}

/** A part of the result: a range of the original, other bytes, or zeros in place of removed bytes. */
export type Piece = { from: number; to: number } | { bytes: Buffer } | { zeros: number };

// A photo has some hundred. Without a limit, a file of tiny parts would take much memory.
const piecesMax = 20_000;

/** What is left of a photo, in the order of its bytes. */
export class Pieces {
  readonly list: Piece[] = [];

  /** Keeps a range of the original, which begins where the last one ended or later. */
  keep(from: number, to: number): void {
    const last = this.list.at(-1);
    if (last && 'to' in last && last.to === from) last.to = to;
    else if (from < to) this.#push({ from, to });
  }

  put(bytes: Buffer): void {
    this.#push({ bytes });
  }

  zeros(count: number): void {
    if (count > 0) this.#push({ zeros: count });
  }

  /** The length of the result so far. */
  bytes(): number {
    return this.list.reduce((sum, piece) => sum + lengthOf(piece), 0);
  }

  #push(piece: Piece): void {
    if (this.list.length >= piecesMax) throw new UnreadablePhoto();
    this.list.push(piece);
  }
}

function lengthOf(piece: Piece): number {
  if ('bytes' in piece) return piece.bytes.length;
  return 'zeros' in piece ? piece.zeros : piece.to - piece.from;
}
