/** The API process. Answers until it is told to stop, says that it is not ready, and finishes what it has begun. */

import { startRelay } from '#db/outbox.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps } from '#runtime/deps.ts';
import { buildApp } from './app.ts';
import { startSweeping } from './sweeps.ts';

const config = readConfig();
const { drainMs, graceMs } = config.ending;
const deps = createDeps(config, { name: 'api' });
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

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  deps.log.info('stopping');
  deps.shutdown.abort();
  // Whoever sends requests here has to see that this process is not ready before it refuses any.
  await new Promise((resolve) => setTimeout(resolve, drainMs));
  // A connection that is kept alive would hold the server open after its last answer.
  setInterval(() => app.server.closeIdleConnections(), 100).unref();
  setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
  // A database that does not answer must not keep a process that is to end.
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
