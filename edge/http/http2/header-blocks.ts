/** Header blocks in one frame or several (RFC 9113 section 4.3). Each is decoded, even of a refused stream: the next one depends on it. */
import { ConnectionFault, errorCode, type Frame, flag, unpadded } from './frames.ts';
import { blockBytesMax, CompressionFault, createDecoder, type Field } from './hpack.ts';

type OnBlock = (id: number, fields: Field[], endsStream: boolean) => void;

/** More frames than any client needs for a block (CVE-2024-27316). */
const continuationsMax = 8;

export function createHeaderBlocks(onBlock: OnBlock) {
  const decode = createDecoder();
  let open: { id: number; endsStream: boolean; parts: Buffer[]; bytes: number } | undefined;

  function add({ id, flags }: Frame, part: Buffer): void {
    if (!open || open.id !== id) throw new ConnectionFault(errorCode.protocol, 'a header block without a beginning');
    open.parts.push(part);
    open.bytes += part.length;
    if (open.bytes > blockBytesMax || open.parts.length > continuationsMax + 1)
      throw new ConnectionFault(errorCode.enhanceYourCalm, 'a header block is too long');
    if (!(flags & flag.endHeaders)) return;
    const { parts, endsStream } = open;
    open = undefined;
    onBlock(id, decodeWhole(parts.length === 1 ? part : Buffer.concat(parts)), endsStream);
  }

  function decodeWhole(block: Buffer): Field[] {
    try {
      return decode(block);
    } catch (error) {
      if (!(error instanceof CompressionFault)) throw error;
      throw new ConnectionFault(errorCode.compression, error.message);
    }
  }

  return {
    /** No other frame may come before the end of a block. */
    isOpen: () => open !== undefined,
    begin(frame: Frame): void {
      // Only clients' numbers, which are odd, begin streams.
      if (frame.id % 2 === 0) throw new ConnectionFault(errorCode.protocol, 'HEADERS of no stream of a client');
      open = { id: frame.id, endsStream: (frame.flags & flag.endStream) !== 0, parts: [], bytes: 0 };
      add(frame, unpadded(frame));
    },
    continue: (frame: Frame) => add(frame, frame.payload),
  };
}
