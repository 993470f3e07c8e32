/** Checks whether the service's dependencies respond. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Deps } from '#runtime/deps.ts';

const timeoutMs = 2_000;
const anyHash = '0'.repeat(64);

type State = 'ok' | 'failing';
export type Parts = { database: State; workflow_engine: State; store: State };

/** Returns a function that checks all parts at once. Concurrent callers share one check, so that checks are cheap. */
export function checkParts({ em, temporal, store, log }: Deps): () => Promise<Parts> {
  let running: Promise<Parts> | undefined;

  async function check(): Promise<Parts> {
    const [database, workflow_engine, engineStore] = await Promise.all([
      stateOf('database', () => em().execute('select 1')),
      stateOf('workflow engine', () => temporal.connection.workflowService.getSystemInfo({})),
      stateOf('store', () => store.sizes([anyHash])),
    ]);
    return { database, workflow_engine, store: engineStore };
  }

  async function stateOf(name: string, act: () => Promise<unknown>): Promise<State> {
    const giveUp = new AbortController();
    try {
      await Promise.race([
        act(),
        pause(timeoutMs, undefined, { signal: giveUp.signal }).then(() => {
          throw new Error(`no response within ${timeoutMs} ms`);
        }),
      ]);
      return 'ok';
    } catch (error) {
      log.warn({ err: error }, `the ${name} does not respond`);
      return 'failing';
    } finally {
      giveUp.abort();
    }
  }

  return () => {
    running ??= check().finally(() => {
      running = undefined;
    });
    return running;
  };
}
