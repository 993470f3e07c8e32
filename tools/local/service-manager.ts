/** Starts, stops and kills named processes, records which ones run, and reports unexpected exits. */
import { endProcess, type ProcessId, type Running } from './processes.ts';
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
  /** Stops it if it runs, then starts it. Concurrent restarts follow each other. */
  restart(name: Name): Promise<void>;
};

export function createServiceManager<Name extends string>(
  services: Service<Name>[],
  records: RunRecords,
  onUnexpectedEnd: (name: Name, how: string) => void,
): ServiceManager<Name> {
  const starting = new Map<Name, ProcessId>();
  const running = new Map<Name, Running>();
  const ending = new WeakSet<Running>();
  const restarts = new Map<Name, Promise<void>>();
  /** Stopped or killed since the last call to start them: a restart that waits does not start them. */
  const ended = new Set<Name>();

  function find(name: Name): Service<Name> {
    const service = services.find((one) => one.name === name);
    if (!service) throw new Error(`There is no service named ${name}`);
    return service;
  }

  async function start(name: Name): Promise<void> {
    const service = find(name);
    const onSpawn = (id: ProcessId) => {
      starting.set(name, id);
      records.add({ name, stopSignal: service.stopSignal, ...id });
    };
    const process = await service.start(onSpawn).finally(() => starting.delete(name));
    running.set(name, process);
    void process.ended.then((how) => {
      if (running.get(name) !== process) return;
      running.delete(name);
      records.remove(name);
      if (!ending.has(process)) onUnexpectedEnd(name, how);
    });
  }

  async function end(name: Name, how: 'stop' | 'kill'): Promise<void> {
    // Its start, a part of a restart, then fails.
    const started = starting.get(name);
    if (started) await endProcess(started, how === 'stop' ? find(name).stopSignal : 'SIGKILL', 10_000);
    const process = running.get(name);
    if (!process) return;
    if (how === 'stop' && ending.has(process)) {
      await process.ended;
      return;
    }
    ending.add(process);
    await process[how]();
  }

  async function restartNow(name: Name): Promise<void> {
    await end(name, 'stop');
    if (!ended.has(name)) await start(name);
  }

  async function endForGood(name: Name, how: 'stop' | 'kill'): Promise<void> {
    ended.add(name);
    await end(name, how);
  }

  return {
    async start(name) {
      ended.delete(name);
      await start(name);
    },
    pid: (name) => running.get(name)?.id.pid,
    stop: (name) => endForGood(name, 'stop'),
    kill: (name) => endForGood(name, 'kill'),
    restart(name) {
      ended.delete(name);
      const before = restarts.get(name) ?? Promise.resolve();
      const next = before.catch(() => {}).then(() => restartNow(name));
      restarts.set(name, next);
      return next;
    },
  };
}
