/** What has a place and can be made to give it up. */
export type Holder = {
  /** Whether it only waits for its client now. */
  canEnd(): boolean;
  end(): void;
};

/** How much of something is in use in this process, in total and for each account or token. */
export type Shares = {
  /**
   * Takes one until the returned function is called. Returns undefined if no more are available. If all are taken, a
   * holder gets the place of another: the oldest that can end, of the key that has most. That key keeps as many as this
   * one then has.
   */
  take(key: string, holder?: Holder): (() => void) | undefined;
};

const endless: Holder = { canEnd: () => false, end() {} };

export function createShares({ each, all }: { each: number; all: number }): Shares {
  const held = new Map<string, Set<Holder>>();
  let total = 0;

  function release(key: string, holder: Holder): void {
    const holders = held.get(key);
    if (!holders?.delete(holder)) return;
    total -= 1;
    if (holders.size === 0) held.delete(key);
  }

  /** Ends a holder of the key that has most of them, and more than `most`. Returns whether there was one. */
  function endOne(most: number): boolean {
    let found: { key: string; holder: Holder; of: number } | undefined;
    for (const [key, holders] of held) {
      if (holders.size <= (found?.of ?? most)) continue;
      const holder = [...holders].find((one) => one.canEnd());
      if (holder) found = { key, holder, of: holders.size };
    }
    if (!found) return false;
    release(found.key, found.holder);
    found.holder.end();
    return true;
  }

  return {
    take(key, holder) {
      const own = held.get(key) ?? new Set();
      if (own.size >= each) return undefined;
      if (total >= all && !(holder && endOne(own.size + 1))) return undefined;
      const mine = { ...(holder ?? endless) };
      held.set(key, own.add(mine));
      total += 1;
      return () => release(key, mine);
    },
  };
}
