/** The streams of a connection, with their requests (RFC 9113 section 5.1). Responses are sent by responses.ts. */
import {
  ConnectionFault,
  type ErrorCode,
  errorCode,
  type Frame,
  flag,
  frameType,
  numbersFrame,
  StreamFault,
  unpadded,
  windowDefault,
} from './frames.ts';
import type { Field } from './hpack.ts';
import { areTooLarge, areTrailers, readStreamRequest, type StreamRequest } from './request-fields.ts';
import type { Outlet, Sending } from './sending.ts';

export type Stream = Outlet & {
  /** Absent if the fields are too large. */
  asked: StreamRequest | undefined;
  /** Bytes of the request's body. */
  received: number;
  hasRequestEnded: boolean;
  isAnswered: boolean;
  timer: NodeJS.Timeout | undefined;
  release(): void;
  /** Called when the stream is closed, for any reason. */
  onClose: (() => void) | undefined;
};

export type Streams = ReturnType<typeof createStreams>;

type Parts = {
  sending: Sending;
  servername: string;
  /** Takes a place for a stream; undefined if there is none. */
  take(): (() => void) | undefined;
  answer(stream: Stream): void;
  /** Called when the last open stream is closed. */
  onIdle(): void;
  /** Called when it was closed because the client reads or sends nothing. */
  onStalled(): void;
  stalledMs: number;
};

export const streamsMax = 100;
/** A longer body is answered before its end. */
const bodyBytesMax = 16 * 1024;
/** Rapid resets (CVE-2023-44487). */
const resets = { burst: 200, perSecond: 20 };

export function createStreams({ sending, servername, take, answer, onIdle, onStalled, stalledMs }: Parts) {
  const open = new Map<number, Stream>();
  /** Streams that we reset or ignored: the client may not know it yet. */
  const ended = new Set<number>();
  const mayReset = createTokenBucket(resets);
  let lastId = 0;
  /** The last stream that was accepted; undefined while all are. */
  let lastAccepted: number | undefined;

  function begin(id: number, fields: Field[], endsStream: boolean): void {
    lastId = id;
    // The client may repeat what comes after our GOAWAY.
    if (lastAccepted !== undefined) {
      rememberEnded(id);
      return;
    }
    const release = open.size < streamsMax ? take() : undefined;
    if (!release) throw new StreamFault(id, errorCode.refusedStream, 'too many streams');
    const isTooLarge = areTooLarge(fields);
    const asked = isTooLarge ? undefined : readStreamRequest(fields, servername);
    const stream: Stream = {
      id,
      window: sending.initialWindow(),
      isBegun: false,
      isClosed: false,
      waiting: undefined,
      asked,
      received: 0,
      hasRequestEnded: false,
      isAnswered: false,
      timer: undefined,
      release,
      onClose: undefined,
    };
    open.set(id, stream);
    if (!asked && !isTooLarge) throw new StreamFault(id, errorCode.protocol, 'a malformed request');
    if (endsStream) endRequest(stream);
    else stream.timer = setTimeout(stall, stalledMs, id).unref();
  }

  function stall(id: number): void {
    reset(id, errorCode.cancel);
    if (open.size === 0) onStalled();
    sending.flush();
  }

  /** An open stream; undefined for one that we reset. */
  function streamOf(id: number): Stream | undefined {
    const stream = open.get(id);
    if (!stream && !ended.has(id)) throw new ConnectionFault(errorCode.streamClosed, 'a frame on a closed stream');
    return stream;
  }

  function endRequest(stream: Stream): void {
    const { asked, received } = stream;
    stream.hasRequestEnded = true;
    if (asked?.contentLength !== undefined && asked.contentLength !== received)
      throw new StreamFault(stream.id, errorCode.protocol, 'the body has another length');
    answerOnce(stream);
  }

  function answerOnce(stream: Stream): void {
    if (stream.isAnswered) return;
    stream.isAnswered = true;
    clearTimeout(stream.timer);
    answer(stream);
  }

  function reset(id: number, code: ErrorCode): void {
    sending.send(numbersFrame(frameType.resetStream, id, code));
    rememberEnded(id);
    const stream = open.get(id);
    if (stream) close(stream);
  }

  function rememberEnded(id: number): void {
    ended.add(id);
    if (ended.size > streamsMax) ended.delete(ended.values().next().value as number);
  }

  function close(stream: Stream): void {
    if (!open.delete(stream.id)) return;
    clearTimeout(stream.timer);
    sending.close(stream);
    stream.onClose?.();
    stream.release();
    if (open.size === 0) onIdle();
  }

  return {
    open,
    /** Accepts no more streams; returns the last one that was. */
    stopAccepting(): number {
      lastAccepted ??= lastId;
      return lastAccepted;
    },
    /** Throws if the stream was never opened. */
    requireKnown(id: number): void {
      if (id === 0 || id > lastId) throw new ConnectionFault(errorCode.protocol, 'a frame on an idle stream');
    },
    /** HEADERS begin a stream, or end it as trailers. */
    onHeaders(id: number, fields: Field[], endsStream: boolean): void {
      if (id > lastId) {
        begin(id, fields, endsStream);
        return;
      }
      const stream = streamOf(id);
      if (!stream) return;
      if (stream.hasRequestEnded) throw new StreamFault(id, errorCode.streamClosed, 'fields after the end');
      if (!endsStream || !areTrailers(fields)) throw new StreamFault(id, errorCode.protocol, 'malformed trailers');
      endRequest(stream);
    },
    onData(frame: Frame): void {
      const { id, payload } = frame;
      const body = unpadded(frame);
      // Also for streams that are over: the connection's window is that of all later requests.
      if (payload.length > 0) sending.send(numbersFrame(frameType.windowUpdate, 0, payload.length));
      const stream = streamOf(id);
      if (!stream) return;
      if (stream.hasRequestEnded) throw new StreamFault(id, errorCode.streamClosed, 'data after the end');
      stream.received += body.length;
      if (stream.received > Math.min(stream.asked?.contentLength ?? windowDefault, windowDefault))
        throw new StreamFault(id, errorCode.protocol, 'the body is too long');
      if (frame.flags & flag.endStream) endRequest(stream);
      else if (stream.received > bodyBytesMax) answerOnce(stream);
    },
    onReset(id: number): void {
      if (!mayReset()) throw new ConnectionFault(errorCode.enhanceYourCalm, 'too many resets');
      const stream = open.get(id);
      if (stream) close(stream);
    },
    reset,
    stall,
    /** The response is sent. The rest of a request's body is unwanted (RFC 9113 section 8.1). */
    finish(stream: Stream): void {
      if (stream.hasRequestEnded) close(stream);
      else reset(stream.id, errorCode.none);
    },
    closeAll(): void {
      for (const stream of open.values()) close(stream);
    },
  };
}

/** Returns a function that takes a token, and tells whether there was one. */
function createTokenBucket({ burst, perSecond }: { burst: number; perSecond: number }): () => boolean {
  let tokens: number = burst;
  let filledAt = performance.now();
  return () => {
    const now = performance.now();
    tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
    filledAt = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
