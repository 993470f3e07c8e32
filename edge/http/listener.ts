/** The edge's HTTP server: its patience with slow clients, its log, and how it ends. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Counting } from '#edge/analytics/page-views.ts';
import type { Edge } from '#edge/edge.ts';
import { openReviews } from '#edge/routing/reviews.ts';
import { type Clock, systemClock } from '#runtime/clock.ts';
import type { Challenges } from './acme-challenges.ts';
import { openQuick, type Quick, type Sent } from './fast-path.ts';
import type { AnswerFigures } from './metrics.ts';
import { answerByHttp } from './node-http.ts';
import { type FrontsOptions, putFrontsFirst } from './proxy-protocol.ts';
import { listenTls, type TlsOptions } from './tls.ts';

export type Listening = {
  port: number;
  /** Absent where no TLS is spoken. */
  tlsPort: number | undefined;
  /** Each connection's next answer is its last; new ones are taken as before. */
  drain(): void;
  /** Takes no more connections, finishes what was begun, and gives up on what takes too long. */
  close(): Promise<void>;
};

type Options = {
  host: string;
  port: number;
  /** Address of the API, whose frame reviewers get. */
  baseUrl?: string;
  clock?: Clock;
  sharesPort?: boolean;
  accessLog?: Logger | undefined;
  /** How long what was begun may take after the word to close. */
  closeWithinMs?: number;
  /** Absent where nothing is counted. */
  counting?: Pick<Counting, 'sent'> | undefined;
  /** Absent where no figures are told. */
  figures?: AnswerFigures | undefined;
  challenges?: Challenges | undefined;
  /** Absent where no TLS is spoken. */
  tls?: TlsOptions | undefined;
  /** Who passes connections on and says whom they are from; absent where nobody does. */
  fronts?: FrontsOptions | undefined;
  /** A client that takes nothing for this long holds nothing any more. */
  stalledMs?: number;
};

/** Answers on the port, or on a free one for 0. */
export async function listen(edge: Edge, options: Options): Promise<Listening> {
  const {
    host,
    port,
    baseUrl = '',
    clock = systemClock,
    sharesPort = false,
    accessLog,
    counting,
    figures,
    challenges,
    fronts,
    stalledMs = 60_000,
    closeWithinMs = 10_000,
  } = options;
  const sentByHttp = whenSent(undefined, counting, figures);
  const answering = { edge, reviews: openReviews({ edge, baseUrl }), challenges };
  let closing = false;
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      keepAliveTimeout: 30_000,
      connectionsCheckingInterval: 2_000,
      noDelay: true,
    },
    (req, res) => {
      if (closing) res.shouldKeepAlive = false;
      if (accessLog) logWhenDone(accessLog, req, res);
      void answerByHttp(answering, req, res, sentByHttp);
    },
  );
  server.timeout = stalledMs;
  // Who has asked may end their side of the connection: Node would drop the answer. Documented nowhere, and as old as Node's HTTP.
  Object.assign(server, { httpAllowHalfOpen: true });
  const sent = whenSent(accessLog, counting, figures);
  const quick = putFirst(server, edge, clock, sent, accessLog !== undefined || figures !== undefined);
  if (fronts) putFrontsFirst(server, fronts, true);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1024, reusePort: sharesPort }, resolve);
  });
  // Who speaks HTTP/1.1 under TLS is answered by the same server, with the same patience.
  const speak = quick.take;
  const tls =
    options.tls &&
    (await listenTls(options.tls, { host, sharesPort, answering, speak, sent, closeWithinMs, stalledMs, fronts }));
  return {
    port: (server.address() as AddressInfo).port,
    tlsPort: tls?.port,
    drain() {
      closing = true;
      quick.drain();
    },
    async close() {
      closing = true;
      await Promise.all([closeServer(server, quick, closeWithinMs), tls?.close()]);
    },
  };
}

/** Every connection begins on the short way; Node's own listener gets those that leave it. */
function putFirst(server: Server, edge: Edge, clock: Clock, sent: Sent | undefined, timed: boolean): Quick {
  const byHttp = server.listeners('connection');
  server.removeAllListeners('connection');
  const quick = openQuick({
    edge,
    clock,
    handOver: (socket) => {
      for (const listener of byHttp) listener.call(server, socket);
    },
    sent,
    timed,
  });
  server.on('connection', quick.take);
  return quick;
}

/** All that is done for an answer that was sent; `undefined` for nothing. */
function whenSent(
  accessLog: Logger | undefined,
  counting: Pick<Counting, 'sent'> | undefined,
  figures: AnswerFigures | undefined,
): Sent | undefined {
  if (!accessLog && !figures) return counting?.sent;
  return (request, answer, socket, ms) => {
    const { method, target, fields } = request;
    if (accessLog) logLine(accessLog, method, fields.host, target, answer.head.status, ms);
    figures?.note(answer, ms);
    counting?.sent(request, answer, socket);
  };
}

async function closeServer(server: Server, quick: Quick, closeWithinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  quick.end();
  // Connections that finish their last answer after this moment are idle only then.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const end = setTimeout(() => {
    server.closeAllConnections();
    quick.destroy();
  }, closeWithinMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(end);
}

function logWhenDone(log: Logger, req: IncomingMessage, res: ServerResponse): void {
  const began = performance.now();
  res.once('close', () =>
    logLine(log, req.method, req.headers.host, req.url, res.statusCode, performance.now() - began),
  );
}

function logLine(
  log: Logger,
  method: string | undefined,
  host: string | undefined,
  target: string | undefined,
  status: number,
  ms: number,
): void {
  // Without the query: it may hold what visitors typed.
  log.info({ method, host, path: target?.split('?')[0], status, ms: Math.round(ms * 10) / 10 });
}
