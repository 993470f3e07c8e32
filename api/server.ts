/** The API process. Answers until it is told to stop, then finishes what it has begun. */
import { readConfig } from '../config.ts';
import { startRelay } from '../db/outbox.ts';
import { createDeps } from '../deps.ts';
import { buildApp } from './app.ts';
import { startSweeping } from './sweeping.ts';

/** How long requests that run may go on after the word to stop. */
const graceMs = 10_000;

const config = readConfig();
const deps = createDeps(config, { name: 'api' });
const app = await buildApp(deps);
const stopSweeping = startSweeping(deps);
const stopRelay = startRelay(deps);
const url = await app.listen({ host: config.api.host, port: config.api.port });
process.send?.({ ready: true, url });

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  deps.log.info('stopping');
  // A connection that is kept alive would hold the server open after its last answer.
  setInterval(() => app.server.closeIdleConnections(), 100).unref();
  setTimeout(() => app.server.closeAllConnections(), graceMs).unref();
  // A database that does not answer must not keep a process that is to end.
  setTimeout(() => process.exit(1), graceMs + 5_000).unref();
  stopSweeping();
  await app.close();
  await stopRelay();
  await deps.close();
  process.exit(0);
}
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop);
