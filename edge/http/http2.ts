/** HTTP/2 (RFC 9113): each stream is a request, answered by what answers all others, and bounded in what it may hold. */
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Answer } from '#edge/content/response.ts';
import { type Sent, servernameOf } from './fast-path.ts';
import { type Answering, answerOf, exactly, fieldsOf } from './node-http.ts';
import { readFields, requestOf, type VisitorRequest } from './request.ts';

export type Http2 = {
  take(socket: Socket): void;
  /** Lets each session finish what it began, and takes no more of it. */
  end(): void;
};

/** A session that says nothing for this long is over. */
const idleMs = 30_000;
/** However alive it keeps itself: a browser opens another. */
const oldestMs = 3600_000;

const headBytesMax = 16 * 1024;

const limits = {
  // Of one connection, in megabytes.
  maxSessionMemory: 8,
  maxHeaderListPairs: 100,
  maxOutstandingPings: 10,
  maxOutstandingSettings: 10,
  maxSessionInvalidFrames: 50,
  maxSessionRejectedStreams: 50,
  // Streams that are opened to be taken back (CVE-2023-44487).
  streamResetBurst: 200,
  streamResetRate: 20,
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: headBytesMax, enablePush: false },
} as const;

/** A stream that takes nothing for `stalledMs` is over. */
export function openHttp2(answering: Answering, sent: Sent | undefined, stalledMs: number): Http2 {
  const sessions = new Map<ServerHttp2Session, string>();
  const server = createServer(limits);
  let isEnding = false;

  server.on('session', (session) => {
    sessions.set(session, servernameOf(session.socket as Socket) ?? '');
    const old = setTimeout(() => session.close(), oldestMs).unref();
    session.once('close', () => {
      clearTimeout(old);
      sessions.delete(session);
    });
    session.setTimeout(idleMs, () => session.close());
    // A client that breaks the protocol has its own session alone to lose.
    session.on('error', () => {});
    if (isEnding) session.close();
  });
  server.on('stream', (stream, headers, _flags, rawHeaders) => {
    const raw = rawHeaders as unknown as string[];
    stream.on('error', () => {});
    // What a client has sent before it heard of our settings was not held to them.
    if (raw.reduce((bytes, { length }) => bytes + length, 0) > headBytesMax) {
      stream.respond({ ':status': 431 }, { endStream: true });
      return;
    }
    stream.setTimeout(stalledMs, () => stream.close(constants.NGHTTP2_CANCEL));
    const servername = (stream.session && sessions.get(stream.session as ServerHttp2Session)) ?? '';
    void answerStream(answering, stream, readRequest(headers, raw, servername), headers.cookie, sent);
  });

  return {
    take: (socket) => server.emit('connection', socket),
    end() {
      isEnding = true;
      for (const session of sessions.keys()) session.close();
    },
  };
}

/** The name of the host is `:authority`; a Host field beside it has to say the same (RFC 9113 section 8.3.1). */
function readRequest(headers: IncomingHttpHeaders, raw: string[], servername: string): VisitorRequest {
  const {
    ':authority': authority,
    ':method': method = '',
    ':path': target = '',
    ':scheme': scheme,
  } = headers as Record<string, string>;
  const fields = readFields(raw);
  const isOne = authority === undefined || headers.host === undefined || headers.host === authority;
  fields.host = isOne && (scheme === 'https' || scheme === 'http') ? (authority ?? fields.host) : undefined;
  return requestOf({ method, target, servername }, raw, fields);
}

async function answerStream(
  answering: Answering,
  stream: ServerHttp2Stream,
  request: VisitorRequest,
  cookies: string | undefined,
  sent: Sent | undefined,
): Promise<void> {
  const began = performance.now();
  try {
    const answer = await answerOf(answering, request, cookies);
    await send(stream, request, answer);
    const socket = stream.session?.socket as Socket | undefined;
    if (socket) sent?.(request, answer, socket, performance.now() - began);
  } catch (err) {
    // A visitor who left is no fault.
    if (stream.destroyed || stream.closed) return;
    const instead = answering.edge.fail(request, err);
    if (stream.headersSent) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else await send(stream, request, instead).catch(() => stream.destroy());
    const socket = stream.session?.socket as Socket | undefined;
    if (socket) sent?.(request, instead, socket, performance.now() - began);
  }
}

async function send(stream: ServerHttp2Stream, { method }: VisitorRequest, answer: Answer): Promise<void> {
  if (stream.destroyed) return;
  const { body } = answer;
  const fields = headersOf(answer);
  if (body === undefined || method === 'HEAD') {
    stream.respond(fields, { endStream: true });
  } else if (Buffer.isBuffer(body)) {
    stream.respond(fields);
    stream.end(body);
  } else {
    const content = await body.open();
    // Who left meanwhile leaves no open file behind.
    if (stream.destroyed) return void content.destroy();
    stream.respond(fields);
    await (body.bytes === undefined ? pipeline(content, stream) : pipeline(content, exactly(body.bytes), stream));
  }
}

function headersOf(answer: Answer): Record<string, string | string[] | number> {
  const headers: Record<string, string | string[] | number> = { ':status': answer.head.status };
  const fields = fieldsOf(answer);
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string;
    const value = fields[i + 1] as string;
    const before = headers[name];
    headers[name] = before === undefined ? value : [before as string, value].flat();
  }
  return headers;
}
