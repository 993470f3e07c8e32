/** A client that sends any frames of HTTP/2, valid or not, and keeps those that it receives. */
import { expect } from 'vitest';
import { type Frame, flag, frameHead, frameType, numbersFrame, settingsFrame } from '#edge/http/http2/frames.ts';
import { createDecoder, encodeField } from '#edge/http/http2/hpack.ts';
import { shake, type Trip } from './visit.ts';

export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
export const wholeRequest = flag.endHeaders | flag.endStream;
/** SETTINGS_INITIAL_WINDOW_SIZE and the connection’s window, as large as they can be. */
export const wideOpen = Buffer.concat([
  settingsFrame([[4, 2 ** 31 - 1]]),
  numbersFrame(frameType.windowUpdate, 0, 2 ** 31 - 1 - 65_535),
]);

export const frame = (type: number, flags: number, id: number, payload: Buffer | string = '') =>
  Buffer.concat([frameHead(payload.length, type, flags, id), Buffer.from(payload as string, 'latin1')]);

/** The block of a request; `more` are names and values of further fields. */
export function block(path: string, host: string, more: [string, string][] = [], method = 'GET'): Buffer {
  const pseudo = { ':method': method, ':scheme': 'https', ':path': path, ':authority': host };
  return Buffer.concat([...Object.entries(pseudo), ...more].map(([name, value]) => encodeField(name, value)));
}

export async function openRaw({ port, host, root }: Trip, start: Buffer = settingsFrame([]), first = preface) {
  const socket = await shake({ port, servername: host, ca: root, ALPNProtocols: ['h2'] });
  const frames: Frame[] = [];
  let rest: Buffer = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      const [type, flags] = [rest[3] as number, rest[4] as number];
      frames.push({ type, flags, id: rest.readUInt32BE(5), payload: rest.subarray(9, end) });
      rest = rest.subarray(end);
    }
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const send = (...bytes: Buffer[]) => void socket.write(Buffer.concat(bytes));
  send(Buffer.from(first), start);
  const of = (type: number, id?: number) => frames.filter((one) => one.type === type && (id ?? one.id) === one.id);
  return {
    socket,
    frames,
    closed,
    send,
    of,
    ask: (id: number, path: string, more: [string, string][] = [], method = 'GET') =>
      send(frame(frameType.headers, wholeRequest, id, block(path, host, more, method))),
    /** Waits for a frame of this type on this stream. */
    async receive(type: number, id: number): Promise<Frame> {
      await expect.poll(() => of(type, id).length, { timeout: 10_000, interval: 5 }).toBeGreaterThan(0);
      return of(type, id)[0] as Frame;
    },
    /** The status of each response so far. */
    statuses: () => {
      const decode = createDecoder();
      return of(frameType.headers).map(({ payload }) => Number(decode(payload)[0]?.value));
    },
    bodyBytes: (id?: number) => of(frameType.data, id).reduce((sum, { payload }) => sum + payload.length, 0),
    /** The code of GOAWAY, once the connection has ended. */
    async ended(): Promise<number | undefined> {
      await closed;
      return of(frameType.goAway).at(-1)?.payload.readUInt32BE(4);
    },
  };
}
