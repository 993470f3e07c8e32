/** Loaded where the configuration names a port for it. What operators ask a process for, on a port of its own that visitors do not reach: its figures, and whether it works. */
import cluster from 'node:cluster';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { readFigures } from '#db/metrics.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { collectProcessMetrics, metricsType, openCluster, renderMetrics } from './prometheus.ts';

type Parts = {
  metrics: NonNullable<Config['metrics']>;
  log: Logger;
  render: () => Promise<string>;
  isReady?: () => boolean;
};

/** `GET /metrics`, `/healthz` and `/readyz`. Rejects where the port is taken. */
export async function startObserving({ metrics, log, render, isReady = () => true }: Parts) {
  collectProcessMetrics();
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const say = (status: number, words: string, type = 'text/plain; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type, connection: 'close' }).end(words);
    if (request.url === '/healthz') return say(200, 'up\n');
    if (request.url === '/readyz') return isReady() ? say(200, 'ready\n') : say(503, 'leaving\n');
    if (request.url !== '/metrics') return say(404, 'There are /metrics, /healthz and /readyz.\n');
    try {
      return say(200, await render(), metricsType);
    } catch (err) {
      log.warn({ err }, 'the figures could not be read');
      return say(503, 'The figures could not be read.\n');
    }
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(metrics.port, metrics.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  log.info({ port }, 'figures are at /metrics');
  return {
    port,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** The figures of a process that has the database: its own, and what waits there. */
export function observe(
  { config, log, em, clock }: Pick<Deps, 'config' | 'log' | 'em' | 'clock'>,
  isReady: () => boolean,
) {
  if (!config.metrics) throw new Error('no port is configured for figures');
  const render = async () => renderMetrics(await readFigures(em(), clock));
  return startObserving({ metrics: config.metrics, log, render, isReady });
}

/** The figures of the edge: of all `processes` behind its port, told by the first. */
export async function observeEdge(
  { config, log }: Pick<Deps, 'config' | 'log'>,
  { processes, isReady }: { processes: number; isReady: () => boolean },
) {
  const ofAll = processes > 1 ? openCluster() : () => renderMetrics();
  if (cluster.isWorker) return collectProcessMetrics();
  if (config.metrics) await startObserving({ metrics: config.metrics, log, render: ofAll, isReady });
}
