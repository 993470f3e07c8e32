/** Frames of HTTP/2 on the wire (RFC 9113 section 4 and 6). */

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const errorCode = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;
export type ErrorCode = (typeof errorCode)[keyof typeof errorCode];

export const setting = {
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindow: 4,
  maxFrame: 5,
  maxHeaderList: 6,
} as const;

export type Frame = { type: number; flags: number; id: number; payload: Buffer };

/** Ends the connection. */
export class ConnectionFault extends Error {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Ends one stream. */
export class StreamFault extends Error {
  readonly id: number;
  readonly code: ErrorCode;
  constructor(id: number, code: ErrorCode, message: string) {
    super(message);
    this.id = id;
    this.code = code;
  }
}

/** The default of SETTINGS_MAX_FRAME_SIZE, and its minimum: frames of both sides are no longer. */
export const frameBytesMax = 16 * 1024;
export const windowMax = 2 ** 31 - 1;
export const windowDefault = 65_535;

const headBytes = 9;
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** Calls `onFrame` for each frame of a connection's bytes. Frames wait for the next call while `isBlocked`. Throws ConnectionFault. */
export function createFrameReader(onFrame: (frame: Frame) => void, isBlocked: () => boolean): (chunk: Buffer) => void {
  let rest: Buffer | undefined;
  let hasPreface = false;

  return (chunk) => {
    const data = rest ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    rest = data;
    if (!hasPreface) {
      const seen = Math.min(data.length, preface.length);
      if (preface.compare(data, 0, seen, 0, seen) !== 0)
        throw new ConnectionFault(errorCode.protocol, 'no connection preface');
      if (seen < preface.length) return;
      hasPreface = true;
      at = preface.length;
    }
    while (data.length - at >= headBytes && !isBlocked()) {
      const length = data.readUIntBE(at, 3);
      if (length > frameBytesMax) throw new ConnectionFault(errorCode.frameSize, 'a frame is too long');
      const end = at + headBytes + length;
      if (end > data.length) break;
      const id = data.readUInt32BE(at + 5) & windowMax;
      onFrame({
        type: data[at + 3] as number,
        flags: data[at + 4] as number,
        id,
        payload: data.subarray(at + headBytes, end),
      });
      at = end;
    }
    rest = at < data.length ? data.subarray(at) : undefined;
  };
}

/** The head of a frame, which its payload follows. */
export function frameHead(length: number, type: number, flags: number, id: number): Buffer {
  const head = Buffer.allocUnsafe(headBytes);
  head[0] = length >> 16;
  head[1] = length >> 8;
  head[2] = length;
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return head;
}

/** A whole frame whose payload is numbers of 32 bits. */
export function numbersFrame(type: number, id: number, ...numbers: number[]): Buffer {
  const payload = Buffer.allocUnsafe(4 * numbers.length);
  for (const [n, number] of numbers.entries()) payload.writeUInt32BE(number, 4 * n);
  return Buffer.concat([frameHead(payload.length, type, 0, id), payload]);
}

export function settingsFrame(settings: [id: number, value: number][]): Buffer {
  const payload = Buffer.allocUnsafe(6 * settings.length);
  for (const [n, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, 6 * n);
    payload.writeUInt32BE(value, 6 * n + 2);
  }
  return Buffer.concat([frameHead(payload.length, frameType.settings, 0, 0), payload]);
}

/** The payload of DATA and HEADERS without padding and priority. Throws ConnectionFault. */
export function unpadded({ type, flags, payload, id }: Frame): Buffer {
  let start = flags & flag.padded ? 1 : 0;
  const end = payload.length - (start === 1 ? (payload[0] ?? 0) : 0);
  if (type === frameType.headers && flags & flag.priority) {
    requireOtherStream(payload.subarray(start), id);
    start += priorityBytes;
  }
  if (start > end) throw new ConnectionFault(errorCode.protocol, 'padding exceeds the frame');
  return start === 0 && end === payload.length ? payload : payload.subarray(start, end);
}

export const priorityBytes = 5;

/** Priorities are otherwise ignored (RFC 9113 section 5.3.2). A stream cannot depend on itself (RFC 7540 section 5.3.1). */
export function requireOtherStream(priority: Buffer, id: number): void {
  if (priority.length < priorityBytes) throw new ConnectionFault(errorCode.frameSize, 'a priority is incomplete');
  if ((priority.readUInt32BE(0) & windowMax) === id)
    throw new ConnectionFault(errorCode.protocol, 'a stream depends on itself');
}
