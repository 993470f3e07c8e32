/** Which builds start on free slots: accounts take turns, and none has more than half while another waits. Pure. */

export type BuildQueue = {
  slots: number;
  /** How many builds of each account are running. */
  running: ReadonlyMap<string, number>;
  /** The builds that could start, the oldest first. `isLate`: its account has one that may start and does not. */
  waiting: readonly { id: string; account: string; isLate?: boolean }[];
  /** When the last build of an account started, in milliseconds; absent if that is long ago. */
  lastStart: ReadonlyMap<string, number>;
};

/**
 * The ids of the builds that start now. The next is of the account whose last build started before all others'. Late
 * builds get what the others leave.
 */
export function nextBuilds({ slots, waiting, ...queue }: BuildQueue): string[] {
  const half = Math.max(1, Math.floor(slots / 2));
  const running = new Map(queue.running);
  const lastStart = new Map(queue.lastStart);
  const left = [...waiting];
  const granted: string[] = [];

  function choose(among: typeof left): (typeof left)[number] | undefined {
    const isAlone = new Set(among.map(({ account }) => account)).size === 1;
    const allowed = among.filter(({ account }) => isAlone || (running.get(account) ?? 0) < half);
    return allowed.toSorted((a, b) => (lastStart.get(a.account) ?? 0) - (lastStart.get(b.account) ?? 0))[0];
  }

  for (let free = slots - sum(running.values()); free > 0; free--) {
    const next = choose(left.filter(({ isLate }) => !isLate)) ?? choose(left.filter(({ isLate }) => isLate));
    if (!next) break;
    granted.push(next.id);
    left.splice(left.indexOf(next), 1);
    running.set(next.account, (running.get(next.account) ?? 0) + 1);
    // After all others, and after those that were granted a slot before.
    lastStart.set(next.account, Number.MAX_SAFE_INTEGER - free);
  }
  return granted;
}

const sum = (counts: Iterable<number>) => [...counts].reduce((all, one) => all + one, 0);
