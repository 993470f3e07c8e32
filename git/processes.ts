/** The processes of one exchange: their CPU time together, and their end. */

import { childrenOf, cpuSecondsEver } from '#providers/process-times.ts';
import type { SpawnedProcess } from '#providers/spawn-helper.ts';

// Most exchanges are over before the first look.
const lookMs = 200;

export type Processes = {
  /** Counts a process, and all that it starts. */
  add(child: SpawnedProcess): void;
  /** CPU seconds so far. */
  used(): Promise<number>;
  /** Kills all but `main`, of which it kills only the children: git then cleans up and exits. */
  stop(main: SpawnedProcess): void;
  clear(): void;
};

/** Calls `onOver` once when the processes have used more CPU time than `secondsMax()`. */
export function watchProcesses(secondsMax: () => number, onOver: () => void): Processes {
  const running = new Map<SpawnedProcess, number>();
  let finished = 0;
  async function used(): Promise<number> {
    for (const child of running.keys()) {
      const pid = child.pid();
      const seconds = pid === undefined ? 0 : await cpuSecondsEver(pid);
      // It may have exited meanwhile.
      if (running.has(child)) running.set(child, Math.max(seconds, running.get(child) ?? 0));
    }
    return [...running.values()].reduce((sum, seconds) => sum + seconds, finished);
  }
  async function look(): Promise<void> {
    if ((await used()) <= secondsMax()) return;
    clearInterval(looking);
    onOver();
  }
  const looking = setInterval(() => void look(), lookMs).unref();
  return {
    add(child) {
      running.set(child, 0);
      const over = () => {
        finished += running.get(child) ?? 0;
        running.delete(child);
      };
      child.exited.then(over, over);
    },
    used,
    stop(main) {
      for (const child of running.keys()) if (child !== main) child.kill('SIGKILL');
      const pid = main.pid();
      if (pid !== undefined) void killChildren(pid);
    },
    clear: () => clearInterval(looking),
  };
}

async function killChildren(pid: number): Promise<void> {
  for (const child of await childrenOf(pid)) {
    try {
      process.kill(child, 'SIGKILL');
    } catch {
      // Gone in between.
    }
  }
}
