/** Sandboxes started ahead: each has built the platform's own rehearsal, waits, takes one build of one site, and is thrown away. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from './run.ts';
import type { BuildLimits } from './sandbox.ts';

/** What a box is made with; the other limits are held by whoever reads its output. */
export type ContainerLimits = Pick<BuildLimits, 'memoryBytes' | 'cpus' | 'pidsMax'>;

export type WarmOptions = {
  /** Places. A place is free again, and gets a new box, when the build that took its box is over: until then the build has the machine. */
  count: number;
  limits: ContainerLimits;
  /** Nothing is started ahead before this: a machine that starts has other work. */
  after?: Promise<void> | undefined;
  /** Told in words what happens. */
  info?: (text: string) => void;
};

export type WarmPool<B extends Container> = {
  /** A box that waits, if there is one of these limits. It is the caller's from then on; its place is free when it has exited. */
  take(limits: ContainerLimits): B | undefined;
  close(): Promise<void>;
};

const patienceMs = { first: 1_000, last: 60_000 };

/** Keeps `count` boxes waiting. `open` resolves when its box is warm, and rejects when the signal aborts it. */
export function createWarmPool<B extends Container>(
  { count, limits, after, info = () => {} }: WarmOptions,
  open: (limits: ContainerLimits, signal: AbortSignal) => Promise<B>,
): WarmPool<B> {
  const waiting = new Set<B>();
  const closing = new AbortController();
  const { signal } = closing;

  /** One place, for the life of the pool. A box that ends while it waits is no fault: another takes its place. */
  async function keepPlace(): Promise<void> {
    await after;
    let patience = patienceMs.first;
    while (!signal.aborted) {
      try {
        const box = await open(limits, signal);
        waiting.add(box);
        info('A sandbox is warm.');
        await box.exited;
        if (waiting.delete(box)) await box.kill();
        else patience = patienceMs.first;
      } catch (error) {
        if (!signal.aborted)
          info(`No sandbox could be started ahead: ${error instanceof Error ? error.message : error}`);
      }
      await delay(patience, undefined, { signal, ref: false }).catch(() => {});
      patience = Math.min(2 * patience, patienceMs.last);
    }
  }

  const places = Array.from({ length: count }, keepPlace);
  return {
    take(wanted) {
      if (wanted.memoryBytes !== limits.memoryBytes || wanted.cpus !== limits.cpus || wanted.pidsMax !== limits.pidsMax)
        return undefined;
      const [box] = waiting;
      if (box) waiting.delete(box);
      return box;
    },
    async close() {
      closing.abort();
      await Promise.all([...waiting].map((box) => box.kill()));
      await Promise.all(places);
    },
  };
}
