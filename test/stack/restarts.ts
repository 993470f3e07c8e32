/** Restarts of random processes, one of a kind at a time, each after the previous one is ready. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Member, Several } from './several.ts';

type Options = {
  everyMs: number;
  /** Whether every other worker that goes is killed. Whom a caller talks to is not: what is under way there is lost, and tests see it. */
  killsWorkers: boolean;
};

/** Goes on until `end`, which answers how often each was restarted and what went wrong. */
export function restartAtRandom({ members, allReady }: Several, { everyMs, killsWorkers }: Options) {
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  const under = new Map<Member['kind'], Promise<void>>();
  let isOver = false;

  async function restart({ kind, name, restart }: Member): Promise<void> {
    const count = (counts[name] ?? 0) + 1;
    counts[name] = count;
    const isKilled = killsWorkers && kind === 'worker' && count % 2 === 0;
    try {
      const how = await restart(isKilled ? 'SIGKILL' : 'SIGTERM');
      if (how !== (isKilled ? 'signal SIGKILL' : 'exit code 0')) wrong.push(`${name}: ${how}`);
      await allReady(kind);
    } catch (error) {
      wrong.push(`${name}: ${(error as Error).message}`);
    }
    under.delete(kind);
  }

  const going = (async () => {
    for (let next = Date.now() + everyMs; !isOver; next += everyMs) {
      await sleep(Math.max(0, next - Date.now()));
      if (isOver) break;
      const some = members.filter(({ kind }) => !under.has(kind));
      const one = some[Math.floor(Math.random() * some.length)];
      if (one) under.set(one.kind, restart(one));
    }
    await Promise.all(under.values());
  })();

  return {
    async end() {
      isOver = true;
      await going;
      return { counts, wrong };
    },
  };
}
