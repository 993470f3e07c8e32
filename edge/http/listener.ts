/** The edge's HTTP server: time-outs of slow clients, the access log, and shutdown. */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { PageViews } from '#edge/analytics/page-views.ts';
import type { Edge } from '#edge/edge.ts';
import { createReviews } from '#edge/routing/reviews.ts';
import { type Clock, systemClock } from '#runtime/clock.ts';
import type { ChallengeResponder } from './acme-challenges.ts';
import { createFastPath, type FastPath, type OnSent } from './fast-path.ts';
import type { ResponseMetrics } from './metrics.ts';
import { respondOverNodeHttp } from './node-http.ts';
import { createOpenBodies, type OpenLimits, openLimits } from './open-bodies.ts';
import { bind } from './port-binding.ts';
import { type ProxyProtocolOptions, readProxyHeaders } from './proxy-protocol.ts';
import { listenTls, type TlsOptions } from './tls.ts';

export type Listener = {
  port: number;
  /** Absent without TLS. */
  tlsPort: number | undefined;
  /** Closes each connection after its next response. New connections are still accepted. */
  drain(): void;
  /** Stops accepting connections, finishes running responses, and cuts those that take too long. */
  close(): Promise<void>;
};

type Options = {
  host: string;
  port: number;
  /** Address of the API, which serves the review frame. */
  baseUrl?: string;
  clock?: Clock;
  sharesPort?: boolean;
  accessLog?: Logger | undefined;
  /** How long running responses may take after `close`. */
  closeWithinMs?: number;
  /** Absent if page views are not counted. */
  pageViews?: Pick<PageViews, 'sent'> | undefined;
  /** Absent without a metrics port. */
  metrics?: ResponseMetrics | undefined;
  challenges?: ChallengeResponder | undefined;
  /** Absent without TLS. */
  tls?: TlsOptions | undefined;
  /** Trusted proxies that send PROXY headers. Absent without any. */
  proxyProtocol?: ProxyProtocolOptions | undefined;
  /** Closes a connection whose client reads nothing for this long. */
  stalledMs?: number;
  openLimits?: OpenLimits;
};

/** Listens on the port, or on a free one for 0. */
export async function listen(edge: Edge, options: Options): Promise<Listener> {
  const { host, port, sharesPort = false, accessLog, pageViews, metrics, proxyProtocol } = options;
  const { baseUrl = '', clock = systemClock, stalledMs = 60_000, closeWithinMs = 10_000 } = options;
  const { bodies, streams } = options.openLimits ?? openLimits;
  const onSentByHttp = sentListener(undefined, pageViews, metrics);
  const reviews = createReviews({ edge, baseUrl });
  const handlers = { edge, reviews, challenges: options.challenges, bodies: createOpenBodies(bodies) };
  let closing = false;
  const server = createHttpServer(stalledMs, (req, res) => {
    if (closing) res.shouldKeepAlive = false;
    if (accessLog) logWhenDone(accessLog, req, res);
    void respondOverNodeHttp(handlers, req, res, onSentByHttp);
  });
  const onSent = sentListener(accessLog, pageViews, metrics);
  const fastPath = installFastPath(server, edge, clock, onSent, accessLog !== undefined || metrics !== undefined);
  if (proxyProtocol) readProxyHeaders(server, proxyProtocol, true);
  const boundPort = await bind(server, { host, port, sharesPort });
  // HTTP/1.1 over TLS uses the same server and time-outs.
  const acceptHttp1 = fastPath.accept;
  const within = { host, sharesPort, handlers, acceptHttp1, onSent, closeWithinMs, stalledMs, proxyProtocol, streams };
  const tls = options.tls && (await listenTls(options.tls, within));
  return {
    port: boundPort,
    tlsPort: tls?.port,
    drain() {
      closing = true;
      fastPath.drain();
    },
    async close() {
      closing = true;
      await Promise.all([closeServer(server, fastPath, closeWithinMs), tls?.close()]);
    },
  };
}

/** Node's own server. Closes a connection whose client sends a request too slowly, or reads nothing for `stalledMs`. */
function createHttpServer(stalledMs: number, onRequest: RequestListener): Server {
  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 20_000,
      keepAliveTimeout: 30_000,
      connectionsCheckingInterval: 2_000,
      noDelay: true,
    },
    onRequest,
  );
  server.timeout = stalledMs;
  // A client may half-close after its request: by default Node drops the response. Undocumented, and as old as Node's HTTP.
  Object.assign(server, { httpAllowHalfOpen: true });
  return server;
}

/** Every connection starts on the fast path. Node's own listener gets those that leave it. */
function installFastPath(server: Server, edge: Edge, clock: Clock, sent: OnSent | undefined, timed: boolean): FastPath {
  const byHttp = server.listeners('connection');
  server.removeAllListeners('connection');
  const fastPath = createFastPath({
    edge,
    clock,
    handOver: (socket) => {
      for (const listener of byHttp) listener.call(server, socket);
    },
    onSent: sent,
    timed,
  });
  server.on('connection', fastPath.accept);
  return fastPath;
}

/** Logs, measures and counts a sent response; `undefined` if nothing of it is on. */
function sentListener(
  accessLog: Logger | undefined,
  pageViews: Pick<PageViews, 'sent'> | undefined,
  metrics: ResponseMetrics | undefined,
): OnSent | undefined {
  if (!accessLog && !metrics) return pageViews?.sent;
  return (request, answer, socket, ms) => {
    const { method, target, fields } = request;
    if (accessLog) logLine(accessLog, method, fields.host, target, answer.head.status, ms);
    metrics?.note(answer, ms);
    pageViews?.sent(request, answer, socket);
  };
}

async function closeServer(server: Server, fastPath: FastPath, closeWithinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  fastPath.end();
  // A connection becomes idle only when its last response ends.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const end = setTimeout(() => {
    server.closeAllConnections();
    fastPath.destroy();
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
  // Without the query: it may contain what visitors typed.
  log.info({ method, host, path: target?.split('?')[0], status, ms: Math.round(ms * 10) / 10 });
}
