/** API processes and workers of a fixture of their own, to be killed. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Fixture } from '#test/api/fixture.ts';
import { bundleDir } from './database.ts';

export type Processes = ReturnType<typeof openProcesses>;

/** The workflows are bundled once for all workers of a run (worker/bundle.ts). */
function shareBundle(dataDir: string): void {
  const cache = join(bundleDir(), 'cache');
  mkdirSync(cache, { recursive: true });
  if (!existsSync(join(dataDir, 'cache'))) symlinkSync(cache, join(dataDir, 'cache'));
}

/** `more`: environment of every process, beside the world's database, secret, data and namespace. */
export function openProcesses(
  { config, database }: Pick<Fixture, 'config' | 'database'>,
  more: Record<string, string>,
) {
  const children = new Set<ChildProcess>();
  shareBundle(config.dataDir);
  const common = {
    PATH: process.env.PATH ?? '',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    NODE_OPTIONS: process.env.NODE_OPTIONS ?? '',
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: config.temporal.address,
    TEMPORAL_NAMESPACE: config.temporal.namespace,
    FRONTAGE_SECRET: config.secret,
    FRONTAGE_DATA: config.dataDir,
    FRONTAGE_RATE_SCALE: '1000000',
    FRONTAGE_QUEUES: 'platform',
    ...more,
  };

  /** Starts a program of the project, by its path from the root. */
  function start(entry: string, env: Record<string, string> = {}): ChildProcess {
    const child = fork(join(import.meta.dirname, '../..', entry), {
      env: { ...common, ...env },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    children.add(child);
    return child;
  }

  async function startReady(entry: string, env: Record<string, string> = {}): Promise<ChildProcess> {
    const child = start(entry, env);
    await once(child, 'message');
    return child;
  }

  return {
    start,
    startApi: (port: number) => startReady('api/server.ts', { FRONTAGE_API_PORT: String(port) }),
    startWorker: () => startReady('worker/worker.ts'),
    async killed(child: ChildProcess): Promise<void> {
      child.kill('SIGKILL');
      await once(child, 'exit');
      children.delete(child);
    },
    close(): void {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}
