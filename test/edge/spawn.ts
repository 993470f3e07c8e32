/** The edge's entry as a process of its own, on a free port. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Fixture } from './fixture.ts';

export type EdgeProcess = { child: ChildProcess; exit: Promise<unknown[]>; log: Promise<string> };

/** Runs the entry on the world's database and store. */
export function spawnEdge(fixture: Fixture, processes: number, more: Record<string, string> = {}): EdgeProcess {
  const child = fork(join(import.meta.dirname, '../../edge/server.ts'), {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      DATABASE_URL: fixture.database.url,
      FRONTAGE_DATA: fixture.dir,
      FRONTAGE_BASE_DOMAIN: 'sites.test',
      FRONTAGE_EDGE_PORT: '0',
      FRONTAGE_EDGE_PROCESSES: String(processes),
      FRONTAGE_SECRET: 'x'.repeat(32),
      ...more,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  return { child, exit: once(child, 'exit'), log: text(child.stdout as Readable) };
}

/** Runs it and answers when it serves. */
export async function startEdgeProcess(fixture: Fixture, processes: number, more: Record<string, string> = {}) {
  const edge = spawnEdge(fixture, processes, more);
  const [message] = (await once(edge.child, 'message')) as [{ ready: boolean; url: string }];
  if (!message.ready) throw new Error('the edge said something else than that it is ready');
  return { ...edge, port: Number(new URL(message.url).port) };
}
