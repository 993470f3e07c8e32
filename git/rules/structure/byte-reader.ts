/** Thrown when the file ends before it should. */
export class UnexpectedEnd extends Error {}

/** Reads a given number of bytes from a stream of chunks, so that a file of any size needs little memory. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #position = 0;

  constructor(content: AsyncIterable<Buffer>) {
    this.#chunks = content[Symbol.asyncIterator]();
  }

  /** The next `count` bytes. */
  async take(count: number): Promise<Buffer> {
    if (this.#rest.length >= count) return this.#cut(count);
    const pieces: Buffer[] = [];
    await this.each(count, (bytes) => pieces.push(bytes));
    return Buffer.concat(pieces);
  }

  async byte(): Promise<number> {
    return (await this.take(1)).readUInt8(0);
  }

  skip(count: number): Promise<void> {
    return this.each(count, () => {});
  }

  /** Passes the next `count` bytes on in chunks. */
  async each(count: number, piece: (bytes: Buffer) => void): Promise<void> {
    for (let left = count; left > 0; ) {
      if (!(await this.#more())) throw new UnexpectedEnd();
      const bytes = this.#cut(left);
      left -= bytes.length;
      piece(bytes);
    }
  }

  /** The next bytes as they arrive, at most `count`. */
  async upTo(count: number): Promise<Buffer> {
    if (!(await this.#more())) throw new UnexpectedEnd();
    return this.#cut(count);
  }

  /** Skips everything up to and including the next byte of this value. */
  async skipPast(byte: number): Promise<void> {
    for (;;) {
      if (!(await this.#more())) throw new UnexpectedEnd();
      const index = this.#rest.indexOf(byte);
      this.#cut(index === -1 ? this.#rest.length : index + 1);
      if (index !== -1) return;
    }
  }

  /** The next chunk as it arrives; empty at the end. */
  async chunk(): Promise<Buffer> {
    return (await this.#more()) ? this.#cut(this.#rest.length) : Buffer.alloc(0);
  }

  /** Ends the stream, which may not have been read completely. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async atEnd(): Promise<boolean> {
    return !(await this.#more());
  }

  /** Number of bytes read so far. */
  position(): number {
    return this.#position;
  }

  /** Whether there is a byte to read. Waits for the next chunk if the last one is used up. */
  async #more(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return false;
      this.#rest = next.value;
    }
    return true;
  }

  /** At most `count` bytes of the current chunk. */
  #cut(count: number): Buffer {
    const piece = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(piece.length);
    this.#position += piece.length;
    return piece;
  }
}
