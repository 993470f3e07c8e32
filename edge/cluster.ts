/** Several edge processes behind one port: one per core, each with its own memory, restarted when it dies. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Logger } from 'pino';

export type Ready = { ready: true; url: string; tlsPort?: number | undefined };

const replaceAfterMs = 500;

/**
 * Whether the kernel distributes connections among processes on the same port. Node's cluster distributes them from the primary, and
 * connections hang that it passed to a process as that died.
 */
export const sharesPort = cluster.isWorker && process.platform === 'linux';

type Options = {
  count: number;
  host: string;
  port: number;
  tlsPort: number | undefined;
  log: Logger;
  /** Called once, when all processes are ready. */
  onReady: (message: Ready) => void;
};

/** Starts worker processes of this program. Rejects if the port is in use. */
export async function startCluster({ count, host, port, tlsPort, log, onReady }: Options) {
  const env = {
    FRONTAGE_EDGE_PORT: String(await freePort(host, port)),
    ...(tlsPort === undefined ? {} : { FRONTAGE_EDGE_TLS_PORT: String(await freePort(host, tlsPort)) }),
  };
  const waitingFor = new Set<Worker>();
  let stopping = false;
  let announced = false;

  function start(): void {
    const worker = cluster.fork(env);
    if (!announced) waitingFor.add(worker);
    worker.on('message', (message: Ready) => {
      waitingFor.delete(worker);
      if (announced || !message.ready || waitingFor.size > 0) return;
      announced = true;
      onReady(message);
    });
    worker.on('exit', (code, signal) => {
      waitingFor.delete(worker);
      if (stopping) return;
      // A worker that cannot start would fail again: the port is in use, or the configuration is wrong.
      if (!announced) process.exit(code || 1);
      log.error({ code, signal }, 'an edge process exited unexpectedly; restarting it');
      setTimeout(() => !stopping && start(), replaceAfterMs);
    });
  }

  for (let n = 0; n < count; n++) start();
  return {
    /** Stops all workers, each after its running responses. */
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

/** The port, or a free one for 0. Binds it unshared first, because a shared port never reports that it is in use. */
async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer();
  probe.listen({ host, port });
  await once(probe, 'listening');
  const found = (probe.address() as AddressInfo).port;
  probe.close();
  await once(probe, 'close');
  return found;
}
