/** Several edge processes behind one port: one for each core, each with its own memory, replaced when it dies. */
import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';

export type Ready = { ready: true; url: string };

const replaceAfterMs = 500;

/** Starts `count` processes of this same program. `onReady` is called once, when all of them answer. */
export function startProcesses(count: number, log: Logger, onReady: (message: Ready) => void) {
  const waitingFor = new Set<Worker>();
  let stopping = false;
  let told = false;

  function start(): void {
    const worker = cluster.fork();
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
