/** The edge's HTTP server: its patience with slow clients, its log, and how it ends. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Edge } from './edge.ts';

export type Listening = {
  port: number;
  /** Takes no more connections, finishes what was begun, and gives up on what takes too long. */
  close(): Promise<void>;
};

type Options = { host: string; port: number; sharesPort?: boolean; accessLog?: Logger | undefined };

const closeWithinMs = 10_000;

/** Answers on the port, or on a free one for 0. */
export async function listen(edge: Edge, { host, port, sharesPort = false, accessLog }: Options): Promise<Listening> {
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
      void edge.answer(req, res);
    },
  );
  // A client that takes nothing for this long holds nothing any more.
  server.timeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1024, reusePort: sharesPort }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      closing = true;
      return closeServer(server);
    },
  };
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Connections that finish their last answer after this moment are idle only then.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const end = setTimeout(() => server.closeAllConnections(), closeWithinMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(end);
}

function logWhenDone(log: Logger, req: IncomingMessage, res: ServerResponse): void {
  const began = performance.now();
  res.once('close', () => {
    log.info({
      method: req.method,
      host: req.headers.host,
      // Without the query: it may hold what visitors typed.
      path: req.url?.split('?')[0],
      status: res.statusCode,
      ms: Math.round((performance.now() - began) * 10) / 10,
    });
  });
}
