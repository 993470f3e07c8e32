/** Whose turn it is to be scanned in this process: one thing at a time, and first of those whose account had its turn the longest ago. */

/** Who waits asks again well within this; who has not is scanned elsewhere, or gone. */
export const waiterTtlMs = 25_000;
const rememberedMs = 3600_000;

/** `elapsed`: milliseconds, of a clock that never goes back. */
export function createFairQueue(elapsed: () => number = () => performance.now()) {
  const waiting = new Map<string, { account: string; at: number }>();
  /** When something of an account was begun last. */
  const began = new Map<string, number>();
  let taken = false;

  function isFirst(account: string): boolean {
    const last = began.get(account) ?? Number.NEGATIVE_INFINITY;
    return ![...waiting.values()].some((other) => (began.get(other.account) ?? Number.NEGATIVE_INFINITY) < last);
  }

  return {
    /** Whether it may begin now; else it waits in line while it goes on asking. Who takes a turn ends it. */
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
