/** Several edge processes behind one port: one for each core, each with its own memory, replaced when it dies. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Logger } from 'pino';

export type Ready = { ready: true; url: string; tlsPort?: number | undefined };

const replaceAfterMs = 500;

/**
 * The kernel shares connections out among processes that listen on the same port. Handing them on from the first process, as
 * Node's cluster does by itself, leaves those hanging that were handed to a process as it died.
 */
export const sharesPort = cluster.isWorker && process.platform === 'linux';

type Options = {
  count: number;
  host: string;
  port: number;
  tlsPort: number | undefined;
  log: Logger;
  /** Called once, when all of them answer. */
  onReady: (message: Ready) => void;
};

/** Starts processes of this same program. Rejects when the port is taken. */
export async function startProcesses({ count, host, port, tlsPort, log, onReady }: Options) {
  const env = {
    FRONTAGE_EDGE_PORT: String(await freePort(host, port)),
    ...(tlsPort === undefined ? {} : { FRONTAGE_EDGE_TLS_PORT: String(await freePort(host, tlsPort)) }),
  };
  const waitingFor = new Set<Worker>();
  let stopping = false;
  let told = false;

  function start(): void {
    const worker = cluster.fork(env);
    if (!told) waitingFor.add(worker);
    worker.on('message', (message: Ready) => {
      waitingFor.delete(worker);
      if (told || !message.ready || waitingFor.size > 0) return;
      told = true;
      onReady(message);
    });
    worker.on('exit', (code, signal) => {
      waitingFor.delete(worker);
      if (stopping) return;
      // One that can't start will not start the next time either: the port is taken, or the configuration is wrong.
      if (!told) process.exit(code || 1);
      log.error({ code, signal }, 'an edge process died: another takes its place');
      setTimeout(() => !stopping && start(), replaceAfterMs);
    });
  }

  for (let n = 0; n < count; n++) start();
  return {
    /** Ends them all, each when it has finished what it was answering. */
    async stop(): Promise<void> {
      stopping = true;
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      await Promise.all(
        workers.map((worker) => {
          const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
          worker.process.kill('SIGTERM');
          return gone;
        }),
      );
    },
  };
}

/** The port itself, or a free one for 0. A port that may be shared is never found taken: so it is first asked for alone. */
async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer();
  probe.listen({ host, port });
  await once(probe, 'listening');
  const found = (probe.address() as AddressInfo).port;
  probe.close();
  await once(probe, 'close');
  return found;
}
