/** What sandboxes of containers have in common: builds use a warm container if there is one, and orphans are removed. */
import { type Container, runBuild } from './run.ts';
import type { BuildRequest, Sandbox } from './sandbox.ts';
import {
  type ContainerLimits,
  createWarmPool,
  type WarmContainer,
  type WarmOptions,
  warmPurpose,
} from './warm-pool.ts';

/** A container of this installation, perhaps of another worker. */
export type FoundContainer = {
  /** The deployment, or `warm` for a container without one. */
  purpose: string;
  /** Whether any of its processes runs. */
  isRunning: () => Promise<boolean>;
  remove: () => Promise<void>;
};

export type ContainerSandbox = Pick<Sandbox, 'kind' | 'image' | 'close'> & {
  /** Starts a container for a deployment. */
  start: (deploymentId: string, limits: ContainerLimits) => Promise<Container>;
  /** Starts one that rehearses, with `warmPurpose`. */
  startWarm: (limits: ContainerLimits) => Promise<WarmContainer>;
  list: () => Promise<FoundContainer[]>;
  /** Containers to start in advance; none by default. */
  warm?: WarmOptions | undefined;
};

export function containerSandbox({ kind, image, start, startWarm, list, ...options }: ContainerSandbox): Sandbox {
  const warm = options.warm && createWarmPool(options.warm, startWarm);

  async function build(request: BuildRequest) {
    const { deploymentId, limits, signal } = request;
    signal.throwIfAborted();
    for (const found of await list()) if (found.purpose === deploymentId) await found.remove();
    return runBuild(
      request,
      async () => (await warm?.take(deploymentId, limits)) ?? (await start(deploymentId, limits)),
    );
  }

  /** A warm container exits with the worker that holds its stdin, so a running one belongs to a live worker. */
  async function removeOrphanBuilds(isUnfinished: (deploymentId: string) => Promise<boolean>) {
    let removed = 0;
    for (const { purpose, isRunning, remove } of await list()) {
      if (purpose === warmPurpose ? await isRunning() : await isUnfinished(purpose)) continue;
      await remove();
      removed += 1;
    }
    return removed;
  }

  async function close() {
    await warm?.close();
    await options.close();
  }

  return { kind, image, build, removeOrphanBuilds, close };
}
