/** How much of something is in use in this process, in total and for each account or token. */
export type Shares = {
  /** Takes one until the returned function is called. Returns undefined if no more are available. */
  take(key: string): (() => void) | undefined;
};

export function createShares({ each, all }: { each: number; all: number }): Shares {
  const held = new Map<string, number>();
  let total = 0;
  return {
    take(key) {
      const own = held.get(key) ?? 0;
      if (own >= each || total >= all) return undefined;
      held.set(key, own + 1);
      total += 1;
      return () => {
        total -= 1;
        const left = (held.get(key) ?? 1) - 1;
        if (left > 0) held.set(key, left);
        else held.delete(key);
      };
    },
  };
}
