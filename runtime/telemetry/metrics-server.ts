/** Serves metrics and health of a process on a port of its own, which visitors cannot reach. Loaded only if that port is configured. */
import cluster from 'node:cluster';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { readMetrics } from '#db/metrics.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { clusterMetrics, collectProcessMetrics, metricsType, renderMetrics } from './prometheus.ts';

type Parts = {
  metrics: NonNullable<Config['metrics']>;
  log: Logger;
  render: () => Promise<string>;
  isReady?: () => boolean;
};

/** `GET /metrics`, `/healthz` and `/readyz`. Rejects if the port is in use. */
export async function startMetricsServer({ metrics, log, render, isReady = () => true }: Parts) {
  collectProcessMetrics();
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const send = (status: number, text: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type, connection: 'close' }).end(text);
    if (request.url === '/healthz') return send(200, 'up\n');
    if (request.url === '/readyz') return isReady() ? send(200, 'ready\n') : send(503, 'shutting down\n');
    if (request.url !== '/metrics') return send(404, 'Not found. Paths: /metrics, /healthz, /readyz.\n');
    try {
      return send(200, await render(), metricsType);
    } catch (err) {
      log.warn({ err }, 'metrics could not be collected');
      return send(503, 'Metrics could not be collected.\n');
    }
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(metrics.port, metrics.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  log.info({ port }, 'metrics are served at /metrics');
  return {
    port,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** Serves metrics of a process: its own, and those of the database unless `ofDatabase` is false. */
export function serveMetrics(
  { config, log, em, clock }: Pick<Deps, 'config' | 'log' | 'em' | 'clock'>,
  isReady: () => boolean,
  { ofDatabase = true } = {},
) {
  if (!config.metrics) throw new Error('no metrics port is configured');
  const render = async () => renderMetrics(ofDatabase ? await readMetrics(em(), clock) : undefined);
  return startMetricsServer({ metrics: config.metrics, log, render, isReady });
}

/** Serves metrics of the edge: the primary process reports all `processes`. */
export async function serveEdgeMetrics(
  { config, log }: Pick<Deps, 'config' | 'log'>,
  { processes, isReady }: { processes: number; isReady: () => boolean },
) {
  const render = processes > 1 ? clusterMetrics() : () => renderMetrics();
  if (cluster.isWorker) return collectProcessMetrics();
  if (config.metrics) await startMetricsServer({ metrics: config.metrics, log, render, isReady });
}
