/** Reads a given number of bytes from a stream of chunks, so that a file of any size needs little memory. */

/** Thrown when the file ends before it should. */
export class UnexpectedEnd extends Error {}

export type ByteReader = {
  /** The next `count` bytes. */
  take(count: number): Promise<Buffer>;
  skip(count: number): Promise<void>;
  /** Passes the next `count` bytes on in chunks. */
  each(count: number, piece: (bytes: Buffer) => void): Promise<void>;
  /** Skips everything up to and including the next byte of this value. */
  skipPast(byte: number): Promise<void>;
  /** The next chunk as it arrives; empty at the end. */
  chunk(): Promise<Buffer>;
  atEnd(): Promise<boolean>;
  /** Number of bytes read so far. */
  position(): number;
};

export function readBytes(content: AsyncIterable<Buffer>): ByteReader {
  const chunks = content[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let position = 0;
  async function more(): Promise<boolean> {
    while (rest.length === 0) {
      const next = await chunks.next();
      if (next.done) return false;
      rest = next.value;
    }
    return true;
  }
  function cut(count: number): Buffer {
    const piece = rest.subarray(0, count);
    rest = rest.subarray(piece.length);
    position += piece.length;
    return piece;
  }
  async function each(count: number, piece: (bytes: Buffer) => void): Promise<void> {
    for (let left = count; left > 0; ) {
      if (!(await more())) throw new UnexpectedEnd();
      const bytes = cut(left);
      left -= bytes.length;
      piece(bytes);
    }
  }
  return {
    each,
    skip: (count) => each(count, () => {}),
    async take(count) {
      if (rest.length >= count) return cut(count);
      const pieces: Buffer[] = [];
      await each(count, (bytes) => pieces.push(bytes));
      return Buffer.concat(pieces);
    },
    async skipPast(byte) {
      for (;;) {
        if (!(await more())) throw new UnexpectedEnd();
        const index = rest.indexOf(byte);
        cut(index === -1 ? rest.length : index + 1);
        if (index !== -1) return;
      }
    },
    chunk: async () => ((await more()) ? cut(rest.length) : Buffer.alloc(0)),
    atEnd: async () => !(await more()),
    position: () => position,
  };
}
