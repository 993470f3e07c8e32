/** HTTP/2 (RFC 9113): each stream is a request, served by the common handlers, with bounded resources. */
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { EdgeResponse } from '#edge/content/response.ts';
import { hourMs } from '#rules/time.ts';
import { createShares } from '#runtime/shares.ts';
import { type OnSent, servernameOf } from './fast-path.ts';
import { networkOf } from './network.ts';
import { exactLength, fieldsOf, type RequestHandlers, respond } from './node-http.ts';
import type { OpenLimits } from './open-bodies.ts';
import { readFields, requestOf, type VisitorRequest } from './request.ts';

export type Http2 = {
  accept(socket: Socket): void;
  /** Lets each session finish its streams, and accepts no new ones. */
  end(): void;
};

/** Closes a session without traffic for this long. */
const idleMs = 30_000;
/** Closes even an active session: a browser opens another. */
const sessionMaxMs = hourMs;

const headBytesMax = 16 * 1024;

const limits = {
  // Per connection, in megabytes.
  maxSessionMemory: 8,
  maxHeaderListPairs: 100,
  maxOutstandingPings: 10,
  maxOutstandingSettings: 10,
  maxSessionInvalidFrames: 50,
  maxSessionRejectedStreams: 50,
  // Rapid resets (CVE-2023-44487).
  streamResetBurst: 200,
  streamResetRate: 20,
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: headBytesMax, enablePush: false },
} as const;

type Options = {
  handlers: RequestHandlers;
  onSent: OnSent | undefined;
  /** Closes a stream whose client reads nothing for this long. */
  stalledMs: number;
  /** How many are open at a time. */
  streams: OpenLimits['streams'];
};

/** A connection of a visitor. */
type Visitor = { servername: string; network: string };

export function createHttp2({ handlers, onSent, stalledMs, streams }: Options): Http2 {
  const sessions = new Map<ServerHttp2Session, Visitor>();
  const shares = createShares(streams);
  const server = createServer(limits);
  let isEnding = false;

  server.on('session', (session) => {
    const socket = session.socket as Socket;
    const network = networkOf(socket.remoteAddress ?? '');
    sessions.set(session, { servername: servernameOf(socket) ?? '', network });
    const old = setTimeout(() => session.close(), sessionMaxMs).unref();
    session.once('close', () => {
      clearTimeout(old);
      sessions.delete(session);
    });
    session.setTimeout(idleMs, () => session.close());
    // A protocol error closes only its own session.
    session.on('error', () => {});
    if (isEnding) session.close();
  });
  server.on('stream', (stream, headers, _flags, rawHeaders) => {
    const raw = rawHeaders as unknown as string[];
    stream.on('error', () => {});
    const visitor = stream.session && sessions.get(stream.session as ServerHttp2Session);
    const release = visitor && shares.take(visitor.network);
    // The client may repeat the request: nothing was done with it (RFC 9113 section 8.7).
    if (!release) return void stream.close(constants.NGHTTP2_REFUSED_STREAM);
    stream.once('close', release);
    // Requests that were sent before our SETTINGS arrived were not limited by them.
    if (raw.reduce((bytes, { length }) => bytes + length, 0) > headBytesMax) {
      stream.respond({ ':status': 431 }, { endStream: true });
      return;
    }
    stream.setTimeout(stalledMs, () => stream.close(constants.NGHTTP2_CANCEL));
    const asked = { stream, ...visitor, request: readRequest(headers, raw, visitor.servername) };
    void answerStream(handlers, asked, headers.cookie, onSent);
  });

  return {
    accept: (socket) => server.emit('connection', socket),
    end() {
      isEnding = true;
      for (const session of sessions.keys()) session.close();
    },
  };
}

/** The host is `:authority`; a Host field must be equal (RFC 9113 section 8.3.1). */
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

type Asked = { stream: ServerHttp2Stream; request: VisitorRequest; network: string };

async function answerStream(
  handlers: RequestHandlers,
  asked: Asked,
  cookies: string | undefined,
  onSent: OnSent | undefined,
): Promise<void> {
  const { stream, request } = asked;
  const began = performance.now();
  try {
    const answer = await respond(handlers, request, cookies);
    await send(handlers, asked, answer);
    const socket = stream.session?.socket as Socket | undefined;
    if (socket) onSent?.(request, answer, socket, performance.now() - began);
  } catch (err) {
    // The client disconnected: not an error.
    if (stream.destroyed || stream.closed) return;
    const instead = handlers.edge.fail(request, err);
    if (stream.headersSent) stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    else await send(handlers, asked, instead).catch(() => stream.destroy());
    const socket = stream.session?.socket as Socket | undefined;
    if (socket) onSent?.(request, instead, socket, performance.now() - began);
  }
}

async function send(
  { bodies }: RequestHandlers,
  { stream, request: { method }, network }: Asked,
  answer: EdgeResponse,
): Promise<void> {
  if (stream.destroyed) return;
  const { body } = answer;
  const fields = headersOf(answer);
  if (body === undefined || method === 'HEAD') {
    stream.respond(fields, { endStream: true });
  } else if (Buffer.isBuffer(body)) {
    stream.respond(fields);
    stream.end(body);
  } else {
    const content = await bodies.open(network, body, () => stream.close(constants.NGHTTP2_CANCEL));
    // Closes the file if the client disconnected meanwhile.
    if (stream.destroyed) return void content.destroy();
    stream.respond(fields);
    await (body.bytes === undefined ? pipeline(content, stream) : pipeline(content, exactLength(body.bytes), stream));
  }
}

function headersOf(answer: EdgeResponse): Record<string, string | string[] | number> {
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
