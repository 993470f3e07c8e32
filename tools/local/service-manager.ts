/** Starts, stops and kills named processes, records which ones run, and reports unexpected exits. */
import type { ProcessId, Running } from './processes.ts';
import type { RunRecords } from './run-records.ts';

export type Service<Name extends string> = {
  name: Name;
  /** Sent to stop a leftover of an earlier run. */
  stopSignal: NodeJS.Signals;
  /** Starts it and returns when it is ready. Must call `onSpawn` as soon as the process exists. */
  start(onSpawn: (id: ProcessId) => void): Promise<Running>;
};

export type ServiceManager<Name extends string> = {
  start(name: Name): Promise<void>;
  /** Undefined while it does not run. */
  pid(name: Name): number | undefined;
  stop(name: Name): Promise<void>;
  kill(name: Name): Promise<void>;
  /** Stops it if it runs, then starts it. */
  restart(name: Name): Promise<void>;
};

export function manageServices<Name extends string>(
  services: Service<Name>[],
  records: RunRecords,
  onUnexpectedEnd: (name: Name, how: string) => void,
): ServiceManager<Name> {
  const running = new Map<Name, Running>();

  async function start(name: Name): Promise<void> {
    const service = services.find((one) => one.name === name);
    if (!service) throw new Error(`There is no service named ${name}`);
    const process = await service.start((id) => records.add({ name, stopSignal: service.stopSignal, ...id }));
    running.set(name, process);
    void process.ended.then((how) => {
      if (running.get(name) !== process) return;
      running.delete(name);
      records.remove(name);
      onUnexpectedEnd(name, how);
    });
  }

  async function end(name: Name, how: 'stop' | 'kill'): Promise<void> {
    const process = running.get(name);
    if (!process) return;
    running.delete(name);
    await process[how]();
    records.remove(name);
  }

  return {
    start,
    pid: (name) => running.get(name)?.id.pid,
    stop: (name) => end(name, 'stop'),
    kill: (name) => end(name, 'kill'),
    async restart(name) {
      await end(name, 'stop');
      await start(name);
    },
  };
}
