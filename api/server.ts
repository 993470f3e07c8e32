/** The API process. On SIGTERM it reports "not ready" first, then finishes the running requests. */

import { lockMs } from '#db/connections.ts';
import { startRelay } from '#db/outbox.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps } from '#runtime/deps.ts';
import { buildApp } from './app.ts';
import { loadServer } from './mcp/routes.ts';
import { startSweeping } from './sweeps.ts';

const config = readConfig();
const { drainMs, graceMs } = config.ending;
const deps = createDeps(config, { name: 'api', lockTimeoutMs: lockMs });
const tracing =
  config.tracing &&
  (await import('#runtime/telemetry/tracing.ts')).startTracing({ ...deps, tracing: config.tracing, process: 'api' });
const app = await buildApp(deps);
const stopSweeping = startSweeping(deps);
const stopRelay = startRelay(deps);
const url = await app.listen({ host: config.api.host, port: config.api.port });
const observing =
  config.metrics &&
  (await (
    await import('#runtime/telemetry/metrics-server.ts')
  ).serveMetrics(deps, () => !deps.shutdown.signal.aborted));
process.send?.({ ready: true, url });
// The first call that needs them would wait for them. Not at once, because a start of the whole system waits for its own calls.
setTimeout(() => {
  app.swagger();
  void loadServer();
}, 3_000).unref();

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  deps.log.info('stopping');
  deps.shutdown.abort();
  // Load balancers must notice that this process is not ready before it refuses requests.
  await new Promise((resolve) => setTimeout(resolve, drainMs));
  // Idle keep-alive connections would keep the server open after its last response.
  setInterval(() => app.server.closeIdleConnections(), 100).unref();
  setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
  // An unresponsive database must not prevent the exit.
  setTimeout(() => process.exit(1), graceMs + 5_000).unref();
  stopSweeping();
  await app.close();
  await stopRelay();
  await observing?.close();
  await deps.close();
  await tracing?.close();
  process.exit(0);
}
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(signal, () => void stop());
