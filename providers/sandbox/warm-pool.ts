/** Sandboxes started in advance: each runs a trial build of our own, waits, runs one build, and is discarded. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from './run.ts';
import type { BuildLimits } from './sandbox.ts';

/** Limits that are fixed when a container is created; the reader of its output enforces the others. */
export type ContainerLimits = Pick<BuildLimits, 'memoryBytes' | 'cpus' | 'pidsMax'>;

export type WarmOptions = {
  /** Containers to keep warm. Each is replaced only after its build is over: until then the build has the machine. */
  count: number;
  limits: ContainerLimits;
  /** No container is started before this resolves: a starting machine has other work. */
  after?: Promise<void> | undefined;
  /** Receives progress messages for the log. */
  info?: (text: string) => void;
};

export type WarmPool<B extends Container> = {
  /** A warm container with these limits, if any. The caller then owns it; it is replaced once it has exited. */
  take(limits: ContainerLimits): B | undefined;
  close(): Promise<void>;
};

const retryDelayMs = { first: 1_000, last: 60_000 };

/** Keeps `count` containers warm. `open` resolves when its container is warm, and rejects when the signal aborts it. */
export function createWarmPool<B extends Container>(
  { count, limits, after, info = () => {} }: WarmOptions,
  open: (limits: ContainerLimits, signal: AbortSignal) => Promise<B>,
): WarmPool<B> {
  const waiting = new Set<B>();
  const closing = new AbortController();
  const { signal } = closing;

  /** Refills one place until the pool closes. A container that exits while it waits is replaced; that is no fault. */
  async function keepPlace(): Promise<void> {
    await after;
    let delayMs = retryDelayMs.first;
    while (!signal.aborted) {
      try {
        const container = await open(limits, signal);
        waiting.add(container);
        info('A warm sandbox is ready.');
        await container.exited;
        if (waiting.delete(container)) await container.kill();
        else delayMs = retryDelayMs.first;
      } catch (error) {
        if (!signal.aborted)
          info(`A warm sandbox could not be started: ${error instanceof Error ? error.message : error}`);
      }
      await delay(delayMs, undefined, { signal, ref: false }).catch(() => {});
      delayMs = Math.min(2 * delayMs, retryDelayMs.last);
    }
  }

  const places = Array.from({ length: count }, keepPlace);
  return {
    take(wanted) {
      if (wanted.memoryBytes !== limits.memoryBytes || wanted.cpus !== limits.cpus || wanted.pidsMax !== limits.pidsMax)
        return undefined;
      const [container] = waiting;
      if (container) waiting.delete(container);
      return container;
    },
    async close() {
      closing.abort();
      await Promise.all([...waiting].map((container) => container.kill()));
      await Promise.all(places);
    },
  };
}
