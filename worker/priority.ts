/** Builds go first: what else this process could do with the machine waits for them, but not for ever. */
import { setTimeout as delay } from 'node:timers/promises';

/** Nothing runs at first. */
export function createPriority() {
  let running = 0;
  let allEnded = Promise.withResolvers<void>();

  return {
    /** Runs what goes first. */
    async first<T>(act: () => Promise<T>): Promise<T> {
      if (running === 0) allEnded = Promise.withResolvers<void>();
      running += 1;
      try {
        return await act();
      } finally {
        running -= 1;
        if (running === 0) allEnded.resolve();
      }
    },
    /** Resolves when nothing runs that goes first, or after `forMs`. */
    async giveWay(forMs: number): Promise<void> {
      const clock = new AbortController();
      const late = delay(forMs, true, { signal: clock.signal, ref: false }).catch(() => true);
      let isLate = false;
      while (running > 0 && !isLate) isLate = await Promise.race([allEnded.promise.then(() => false), late]);
      clock.abort();
    },
  };
}
