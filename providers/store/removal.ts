/**
 * When a blob may be removed. A row may name a blob that is there already long after `put` returned it: so `put` renews
 * the time of an old one, and a blob with a recent time is kept.
 */
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';

/** A blob that was put within this time is kept: longer than any build, upload or import takes to name it. */
export const recentMs = 2 * dayMs;
/** The time of a blob that is put again is renewed if it is older than this. */
export const renewMs = hourMs;

const askedMs = 10 * minuteMs;

/** The current time of a storage, which is asked for it now and then. */
export function createStorageClock(ask: () => Promise<number>): () => Promise<number> {
  let asked: { at: number; offset: Promise<number> } | undefined;
  return async () => {
    const at = performance.now();
    if (!asked || at - asked.at > askedMs) asked = { at, offset: ask().then((now) => now - performance.now()) };
    const { offset } = asked;
    try {
      return (await offset) + performance.now();
    } catch (error) {
      asked = undefined;
      throw error;
    }
  };
}
