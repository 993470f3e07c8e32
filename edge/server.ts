/** Entry of the edge: `node edge/server.ts`. Tells its parent `{ ready, url }`; ends on SIGTERM, SIGINT or the loss of its parent. */
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { readConfig } from '#runtime/config.ts';
import { createLogger } from '#runtime/log.ts';
import { type Ready, startProcesses } from './cluster.ts';

const config = readConfig();
const log = createLogger(config, 'edge');
const processes = config.edge.processes || availableParallelism();

async function startAll(): Promise<() => Promise<void>> {
  const { host, port, tlsPort } = config.edge;
  return (await startProcesses({ count: processes, host, port, tlsPort, log, onReady: tellParent })).stop;
}

/** What it takes is loaded by those alone who answer visitors. */
async function startAnswering(): Promise<() => Promise<void>> {
  const { startOne } = await import('./edge-process.ts');
  return await startOne({ config, log, processes, onReady: tellParent, onFault: die });
}

function tellParent(message: Ready): void {
  if (cluster.isPrimary) log.info({ url: message.url, processes }, 'the edge answers');
  process.send?.(message);
}

function die(err: unknown): void {
  log.fatal({ err }, 'the edge ends by a fault');
  process.exit(1);
}

let stopping = false;
process.on('uncaughtException', die);
process.on('unhandledRejection', die);
const stop = cluster.isPrimary && processes > 1 ? await startAll() : await startAnswering();

if (config.metrics) {
  const { serveEdgeMetrics: observeEdge } = await import('#runtime/telemetry/metrics-server.ts');
  await observeEdge({ config, log }, { processes, isReady: () => !stopping });
}
function end(): void {
  if (stopping) return;
  stopping = true;
  stop().then(() => process.exit(0), die);
}
process.on('SIGTERM', end);
process.on('SIGINT', end);
process.on('disconnect', end);
