/** Entry of the edge: `node edge/server.ts`. Sends `{ ready, url }` to its parent. Ends on SIGTERM, SIGINT or the loss of its parent. */
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { readConfig } from '#runtime/config.ts';
import { createLogger } from '#runtime/log.ts';
import { type Ready, startCluster } from './cluster.ts';

const config = readConfig();
const log = createLogger(config, 'edge');
const processes = config.edge.processes || availableParallelism();

async function startPrimary(): Promise<() => Promise<void>> {
  const { host, port, tlsPort } = config.edge;
  return (await startCluster({ count: processes, host, port, tlsPort, log, onReady: notifyParent })).stop;
}

/** The primary of a cluster does not load the modules that serve visitors. */
async function startWorker(): Promise<() => Promise<void>> {
  const { startEdgeProcess: startOne } = await import('./edge-process.ts');
  return await startOne({ config, log, processes, onReady: notifyParent, onFault: crash });
}

function notifyParent(message: Ready): void {
  if (cluster.isPrimary) log.info({ url: message.url, processes }, 'the edge is ready');
  process.send?.(message);
}

function crash(err: unknown): void {
  log.fatal({ err }, 'the edge crashed');
  process.exit(1);
}

let stopping = false;
process.on('uncaughtException', crash);
process.on('unhandledRejection', crash);
const stop = cluster.isPrimary && processes > 1 ? await startPrimary() : await startWorker();

if (config.metrics) {
  const { serveEdgeMetrics: observeEdge } = await import('#runtime/telemetry/metrics-server.ts');
  await observeEdge({ config, log }, { processes, isReady: () => !stopping });
}
function end(): void {
  if (stopping) return;
  stopping = true;
  stop().then(() => process.exit(0), crash);
}
process.on('SIGTERM', end);
process.on('SIGINT', end);
process.on('disconnect', end);
