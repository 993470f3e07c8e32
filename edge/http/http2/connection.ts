/** The server's side of a connection of HTTP/2 (RFC 9113). */
import type { Socket } from 'node:net';
import {
  ConnectionFault,
  createFrameReader,
  type ErrorCode,
  errorCode,
  type Frame,
  flag,
  frameHead,
  frameType,
  numbersFrame,
  priorityBytes,
  requireOtherStream,
  StreamFault,
  setting,
  settingsFrame,
  windowMax,
} from './frames.ts';
import { createHeaderBlocks } from './header-blocks.ts';
import { fieldBytesMax } from './request-fields.ts';
import { createSending, type Sending } from './sending.ts';
import { createStreams, type Stream, type Streams, streamsMax } from './streams.ts';

export type Connection = {
  socket: Socket;
  sending: Sending;
  streams: Streams;
  /** Ends after its streams, and accepts no new ones. */
  end(): void;
};

type Parts = {
  socket: Socket;
  servername: string;
  /** Takes a place for a stream; undefined if there is none. */
  take(): (() => void) | undefined;
  answer(connection: Connection, stream: Stream): void;
  onError(err: unknown): void;
  /** Closes a stream whose client reads or sends nothing for this long. */
  stalledMs: number;
  /** Ends a connection without traffic for this long. */
  idleMs: number;
};

/** Streams that end by a fault of the client, in a connection's life. */
const faultsMax = 100;
/** In one frame. Each may change the windows of all streams. */
const settingsMax = 32;

const greeting = settingsFrame([
  [setting.maxConcurrentStreams, streamsMax],
  [setting.maxHeaderList, fieldBytesMax],
]);
const nothing = Buffer.alloc(0);
const settingsAck = frameHead(0, frameType.settings, flag.ack, 0);

export function openConnection({ socket, servername, take, answer, onError, stalledMs, idleMs }: Parts): Connection {
  const sending = createSending({ socket, stalledMs, onStalled: (id) => streams.stall(id) });
  const streams = createStreams({
    sending,
    servername,
    take,
    answer: (stream) => answer(connection, stream),
    onIdle: () => isEnding && closeSocket(),
    onStalled: end,
    stalledMs,
  });
  const connection: Connection = { socket, sending, streams, end };
  const handle = createHandlers(sending, streams);
  const read = createFrameReader(onFrame, sending.isBlocked);
  let faults = 0;
  let isEnding = false;
  let isOver = false;

  function onFrame(frame: Frame): void {
    if (isOver) return;
    try {
      handle(frame);
    } catch (error) {
      if (!(error instanceof StreamFault)) throw error;
      // A refused stream costs nothing, and its network's others may have caused it.
      if (error.code !== errorCode.refusedStream) faults += 1;
      if (faults > faultsMax) throw new ConnectionFault(errorCode.enhanceYourCalm, 'too many faults');
      streams.reset(error.id, error.code);
    }
  }

  function onChunk(chunk: Buffer): void {
    if (isOver) return;
    try {
      read(chunk);
      sending.flush();
    } catch (error) {
      if (!(error instanceof ConnectionFault)) onError(error);
      goAway(error instanceof ConnectionFault ? error.code : errorCode.internal);
      streams.closeAll();
      closeSocket();
    }
    if (!isOver && sending.isBlocked()) socket.pause();
  }

  function goAway(code: ErrorCode): void {
    isEnding = true;
    sending.send(numbersFrame(frameType.goAway, 0, streams.stopAccepting(), code));
  }

  /**
   * Sends the rest, and waits for the client to close: bytes that arrive at a closed socket reset it, and the client
   * would lose what it has not received yet.
   */
  function closeSocket(): void {
    if (isOver) return;
    isOver = true;
    sending.flush();
    socket.end();
    socket.resume();
    const deadline = setTimeout(() => socket.destroy(), stalledMs).unref();
    socket.once('close', () => clearTimeout(deadline));
  }

  function end(): void {
    if (isEnding) return;
    goAway(errorCode.none);
    sending.flush();
    if (streams.open.size === 0) closeSocket();
  }

  socket.on('data', onChunk);
  socket.on('drain', () => {
    socket.resume();
    onChunk(nothing);
  });
  socket.setTimeout(idleMs, () => {
    if (streams.open.size === 0) end();
    // It calls once.
    else socket.setTimeout(idleMs);
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    isOver = true;
    streams.closeAll();
  });
  sending.send(greeting);
  sending.flush();
  return connection;
}

function createHandlers(sending: Sending, streams: Streams): (frame: Frame) => void {
  const blocks = createHeaderBlocks(streams.onHeaders);
  let hasSettings = false;
  const handlers: Record<number, (frame: Frame) => void> = {
    [frameType.data](frame) {
      streams.requireKnown(frame.id);
      streams.onData(frame);
    },
    [frameType.headers]: blocks.begin,
    [frameType.continuation]: blocks.continue,
    [frameType.priority]({ id, payload }) {
      if (id === 0) throw fault('PRIORITY of no stream');
      requireLength(payload, priorityBytes);
      requireOtherStream(payload, id);
    },
    [frameType.resetStream]({ id, payload }) {
      requireLength(payload, 4);
      streams.requireKnown(id);
      streams.onReset(id);
    },
    [frameType.settings](frame) {
      hasSettings = true;
      onSettings(frame, sending, streams);
    },
    [frameType.pushPromise]() {
      throw fault('a client cannot push');
    },
    [frameType.ping]({ id, flags, payload }) {
      if (id !== 0) throw fault('PING on a stream');
      requireLength(payload, 8);
      if (!(flags & flag.ack)) sending.send(frameHead(8, frameType.ping, flag.ack, 0), payload);
    },
    [frameType.goAway]({ id }) {
      if (id !== 0) throw fault('GOAWAY on a stream');
    },
    [frameType.windowUpdate]: (frame) => onWindowUpdate(frame, sending, streams),
  };
  return (frame) => {
    if (!hasSettings && frame.type !== frameType.settings) throw fault('the first frame is not SETTINGS');
    if (blocks.isOpen() && frame.type !== frameType.continuation) throw fault('a frame within a header block');
    handlers[frame.type]?.(frame);
  };
}

function onSettings({ id, flags, payload }: Frame, sending: Sending, streams: Streams): void {
  if (id !== 0) throw fault('SETTINGS on a stream');
  if (flags & flag.ack) {
    requireLength(payload, 0);
    return;
  }
  if (payload.length % 6 !== 0) throw new ConnectionFault(errorCode.frameSize, 'SETTINGS of another length');
  if (payload.length > 6 * settingsMax) throw new ConnectionFault(errorCode.enhanceYourCalm, 'too many settings');
  for (let at = 0; at < payload.length; at += 6) {
    const [name, value] = [payload.readUInt16BE(at), payload.readUInt32BE(at + 2)];
    if (name === setting.enablePush && value > 1) throw fault('an invalid setting');
    if (name === setting.maxFrame && (value < 16_384 || value > 16_777_215)) throw fault('an invalid setting');
    if (name !== setting.initialWindow) continue;
    if (value > windowMax || !sending.setInitialWindow(value, streams.open.values()))
      throw new ConnectionFault(errorCode.flowControl, 'a window is too large');
  }
  sending.send(settingsAck);
}

function onWindowUpdate({ id, payload }: Frame, sending: Sending, streams: Streams): void {
  requireLength(payload, 4);
  if (id !== 0) streams.requireKnown(id);
  const by = payload.readUInt32BE(0) & windowMax;
  const stream = streams.open.get(id);
  const isTooLarge = (id === 0 || stream !== undefined) && !sending.grow(stream, by);
  if (by > 0 && !isTooLarge) return;
  const code = isTooLarge ? errorCode.flowControl : errorCode.protocol;
  const message = 'a window is too large, or is not enlarged';
  throw id === 0 ? new ConnectionFault(code, message) : new StreamFault(id, code, message);
}

function requireLength(payload: Buffer, length: number): void {
  if (payload.length !== length) throw new ConnectionFault(errorCode.frameSize, 'a frame has another length');
}

function fault(message: string): ConnectionFault {
  return new ConnectionFault(errorCode.protocol, message);
}
