/** Sandboxes started in advance: each runs a trial build of our own, waits, runs one build, and is discarded. */
import { once } from 'node:events';
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

export type WarmContainer = Container & {
  /** Ends its low priority, if it has one. */
  restorePriority?: () => Promise<unknown>;
  /** Assigns it to a deployment. */
  claim: (deploymentId: string) => Promise<unknown>;
};

export type WarmPool = {
  /**
   * A warm container with these limits, assigned to the deployment; undefined if there is none or it has just exited.
   * The caller then owns it; it is replaced once it has exited.
   */
  take(deploymentId: string, limits: ContainerLimits): Promise<Container | undefined>;
  close(): Promise<void>;
};

/** The purpose of a container without a deployment. */
export const warmPurpose = 'warm';
const warmUpMs = 180_000;
const retryDelayMs = { first: 1_000, last: 60_000 };

/** Keeps `count` containers warm. `start` starts one that rehearses. */
export function createWarmPool(
  { count, limits, after, info = () => {} }: WarmOptions,
  start: (limits: ContainerLimits) => Promise<WarmContainer>,
): WarmPool {
  const ready = new Set<WarmContainer>();
  const closing = new AbortController();
  const { signal } = closing;

  /** Refills one place until the pool closes. A container that exits while it waits is replaced; that is no fault. */
  async function keepPlace(): Promise<void> {
    await after;
    let delayMs = retryDelayMs.first;
    while (!signal.aborted) {
      try {
        const container = await start(limits);
        await rehearse(container, signal);
        ready.add(container);
        info('A warm sandbox is ready.');
        await container.exited;
        if (ready.delete(container)) await container.kill();
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
    async take(deploymentId, wanted) {
      if (wanted.memoryBytes !== limits.memoryBytes || wanted.cpus !== limits.cpus || wanted.pidsMax !== limits.pidsMax)
        return undefined;
      const [container] = ready;
      if (!container) return undefined;
      ready.delete(container);
      return container.claim(deploymentId).then(
        () => container,
        () => container.kill().then(() => undefined),
      );
    },
    async close() {
      closing.abort();
      await Promise.all([...ready].map((container) => container.kill()));
      await Promise.all(places);
    },
  };
}

/** Resolves when the container is warm. Kills it if it fails to become warm, or when the signal aborts it. */
async function rehearse({ stdout, restorePriority, kill }: WarmContainer, signal: AbortSignal): Promise<void> {
  try {
    await once(stdout, 'readable', { signal: AbortSignal.any([signal, AbortSignal.timeout(warmUpMs)]) });
    if (stdout.read(1) === null) throw new Error('the rehearsal build failed.');
    await restorePriority?.();
    signal.throwIfAborted(); // The pool was closed meanwhile, and awaits the exit.
  } catch (error) {
    await kill();
    throw error;
  }
}
