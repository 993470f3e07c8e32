/**
 * A fair queue: one scan at a time in a process, and next the account that has waited longest. Not p-limit: waiters are workflows that poll, so
 * the queue forgets those that stopped polling.
 */
import { hourMs } from '#rules/time.ts';

/** Waiters poll well within this. One that has not is scanned elsewhere, or gone. */
export const waiterTtlMs = 25_000;
const rememberedMs = hourMs;

/** `elapsed`: milliseconds of a monotonic clock. */
export function createFairQueue(elapsed: () => number = () => performance.now()) {
  const waiting = new Map<string, { account: string; at: number }>();
  /** When the last scan of an account started. */
  const began = new Map<string, number>();
  let taken = false;

  function isFirst(account: string): boolean {
    const last = began.get(account) ?? Number.NEGATIVE_INFINITY;
    return ![...waiting.values()].some((other) => (began.get(other.account) ?? Number.NEGATIVE_INFINITY) < last);
  }

  return {
    /** Whether the scan may start now. Otherwise it stays queued while it polls. After true, call `end`. */
    take(id: string, account: string): boolean {
      const at = elapsed();
      for (const [one, asked] of waiting) if (at - asked.at > waiterTtlMs) waiting.delete(one);
      for (const [one, last] of began) if (at - last > rememberedMs) began.delete(one);
      if (taken || !isFirst(account)) {
        waiting.set(id, { account, at });
        return false;
      }
      waiting.delete(id);
      began.set(account, at);
      taken = true;
      return true;
    },
    end(): void {
      taken = false;
    },
  };
}
