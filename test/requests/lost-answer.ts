/** A database that commits, and whose connection dies before it says so. */
import { vi } from 'vitest';
import type { Fixture } from '#test/api/fixture.ts';

/** A worker in the process of a test begins transactions too. */
const isOfWorker = () => /\/activities\/|\/db\/outbox/.test(new Error('here').stack ?? '');

/** The next write that an entity manager of the process is asked for is done, and its answer lost. */
export function loseNextAnswer({ deps }: Pick<Fixture, 'deps'>, method: 'transactional' | 'flush', after = 0) {
  const { em } = deps;
  let left = after + 1;
  const spy = vi.spyOn(deps, 'em').mockImplementation(() => {
    const fork = em();
    const real = fork[method].bind(fork) as (...given: unknown[]) => Promise<unknown>;
    const losing = async (...given: unknown[]) => {
      const isCounted = !isOfWorker();
      const answer = await real(...given);
      if (isCounted && --left === 0) throw new Error('terminating connection due to administrator command');
      return answer;
    };
    return Object.assign(fork, { [method]: losing });
  });
  return () => spy.mockRestore();
}
