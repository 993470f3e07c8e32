/** What a connection of HTTP/2 sends: frames in one write for each turn, and bodies within the client's windows (RFC 9113 section 5.2). */
import type { Socket } from 'node:net';
import { flag, frameBytesMax, frameHead, frameType, windowDefault, windowMax } from './frames.ts';

/** The sending side of a stream. */
export type Outlet = {
  id: number;
  /** How many bytes the client takes. */
  window: number;
  /** Whether the head is sent. */
  isBegun: boolean;
  isClosed: boolean;
  /** The part of the body that is not sent yet. */
  waiting: Waiting | undefined;
};

type Waiting = { rest: Buffer; isLast: boolean; timer: NodeJS.Timeout | undefined; done(isSent: boolean): void };

export type Sending = ReturnType<typeof createSending>;

/** Bodies wait while the socket has as much as this. Other frames do not: they would come after whole bodies. */
const bodyBytesMax = 128 * 1024;
/** Nothing is read while the socket has as much as this. */
const queuedBytesMax = 2 * bodyBytesMax;
/** TLS joins larger writes itself: copies made here would wait for the garbage collection. */
const joinedBytesMax = 16 * 1024;
const nothing = Buffer.alloc(0);
/**
 * Begins the first block: we use no table. A client that has made it smaller than its default waits for this
 * (RFC 7541 section 4.2).
 */
const noTable = Buffer.of(0x20);

type Options = {
  socket: Socket;
  stalledMs: number;
  /** Called for a stream whose client reads nothing for `stalledMs`. */
  onStalled(id: number): void;
};

export function createSending({ socket, stalledMs, onStalled }: Options) {
  let window = windowDefault;
  let initialWindow = windowDefault;
  let parts: Buffer[] = [];
  let bytes = 0;
  let isFirstHead = true;
  const waiting = new Set<Outlet>();

  function send(...frames: Buffer[]): void {
    for (const frame of frames) {
      parts.push(frame);
      bytes += frame.length;
    }
  }

  /** Sends all frames of this turn: one system call, and as few records of TLS as possible. */
  function flush(): void {
    if (waiting.size > 0) sendWaiting();
    if (bytes === 0 || socket.writableEnded || socket.destroyed) return;
    if (bytes <= joinedBytesMax) socket.write(Buffer.concat(parts, bytes));
    else writeEach(parts);
    parts = [];
    bytes = 0;
  }

  function writeEach(frames: Buffer[]): void {
    socket.cork();
    for (const frame of frames) socket.write(frame);
    socket.uncork();
  }

  const queuedBytes = () => bytes + socket.writableLength;
  const isFull = () => queuedBytes() >= bodyBytesMax;

  /** Sends one frame of the body, if the windows allow. */
  function sendPart(outlet: Outlet, body: Waiting): boolean {
    // A window is negative if the client has reduced it.
    const length = Math.max(0, Math.min(body.rest.length, frameBytesMax, outlet.window, window));
    if (length === 0 && body.rest.length > 0) return false;
    const isWhole = length === body.rest.length;
    const flags = isWhole && body.isLast ? flag.endStream : 0;
    send(frameHead(length, frameType.data, flags, outlet.id), isWhole ? body.rest : body.rest.subarray(0, length));
    outlet.window -= length;
    window -= length;
    body.rest = isWhole ? nothing : body.rest.subarray(length);
    if (isWhole) stopWaiting(outlet, true);
    return true;
  }

  function stopWaiting(outlet: Outlet, isSent: boolean): void {
    const body = outlet.waiting;
    if (!body) return;
    clearTimeout(body.timer);
    outlet.waiting = undefined;
    waiting.delete(outlet);
    body.done(isSent);
  }

  /** Sends a frame of each body in turn, until all wait. The turn continues where it ended. */
  function sendWaiting(): void {
    for (const outlet of waiting) {
      if (isFull()) return;
      if (!outlet.waiting || !sendPart(outlet, outlet.waiting) || !outlet.waiting) continue;
      outlet.waiting.timer?.refresh();
      waiting.delete(outlet);
      waiting.add(outlet);
    }
  }

  // The client reads: bodies that only wait for others do not stall.
  socket.on('drain', () => {
    for (const { window: own, waiting: body } of waiting) if (own > 0) body?.timer?.refresh();
  });

  function grow(outlet: Outlet | undefined, by: number): boolean {
    if (!outlet) window += by;
    else outlet.window += by;
    return (outlet ? outlet.window : window) <= windowMax;
  }

  return {
    send,
    flush,
    isBlocked: () => queuedBytes() >= queuedBytesMax,
    /** Of a new stream. */
    initialWindow: () => initialWindow,
    /** Header blocks that are longer than a frame continue in others (RFC 9113 section 4.3). */
    sendHead(outlet: Outlet, head: Buffer[], isLast: boolean): void {
      const { id } = outlet;
      const block = isFirstHead ? [noTable, ...head] : head;
      isFirstHead = false;
      outlet.isBegun = true;
      const end = isLast ? flag.endStream : 0;
      const length = block.reduce((sum, part) => sum + part.length, 0);
      if (length <= frameBytesMax) {
        send(frameHead(length, frameType.headers, end | flag.endHeaders, id), ...block);
        return;
      }
      const whole = Buffer.concat(block);
      for (let at = 0; at < length; at += frameBytesMax) {
        const part = whole.subarray(at, at + frameBytesMax);
        const type = at === 0 ? frameType.headers : frameType.continuation;
        const flags = (at === 0 ? end : 0) | (at + part.length === length ? flag.endHeaders : 0);
        send(frameHead(part.length, type, flags, id), part);
      }
    },
    /** Calls `done` when all of it is sent, at once if possible, or when the stream is closed. `flush` sends more. */
    sendBody(outlet: Outlet, rest: Buffer, isLast: boolean, done: (isSent: boolean) => void): void {
      if (outlet.isClosed) {
        done(false);
        return;
      }
      const body: Waiting = { rest, isLast, timer: undefined, done };
      outlet.waiting = body;
      if (waiting.size === 0) while (outlet.waiting && !isFull() && sendPart(outlet, body));
      if (!outlet.waiting) return;
      body.timer = setTimeout(() => onStalled(outlet.id), stalledMs).unref();
      waiting.add(outlet);
    },
    close(outlet: Outlet): void {
      outlet.isClosed = true;
      stopWaiting(outlet, false);
    },
    /** Enlarges the window of a stream, or that of the connection. Returns false if it becomes too large. */
    grow,
    /** The client's SETTINGS_INITIAL_WINDOW_SIZE, which changes the windows of open streams (RFC 9113 section 6.9.2). */
    setInitialWindow(size: number, outlets: Iterable<Outlet>): boolean {
      const by = size - initialWindow;
      initialWindow = size;
      return [...outlets].every((outlet) => grow(outlet, by));
    },
  };
}
