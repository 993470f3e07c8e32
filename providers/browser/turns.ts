/**
 * Whose page is shown next: one at a time, and next the account for which the browser has worked the least. An account
 * keeps its turn for a moment, because another one needs another browser. Of its pages, those that a call asked for come
 * first.
 */

const sliceMs = 4_000;

type Waiting = { account: string; isAsked: boolean; go: () => void };

/** `elapsed`: milliseconds of a monotonic clock. */
export function createTurns(elapsed: () => number = () => performance.now()) {
  /** In the order in which they asked. */
  const waiting: Waiting[] = [];
  /** How long the browser has worked for each account that waits, or is served. */
  const used = new Map<string, number>();
  let current: { account: string; since: number } | undefined;
  let isTaken = false;

  /** One that begins has used as much as the one that has used the least: time without work is not saved up. */
  function enter(account: string): void {
    if (!used.has(account)) used.set(account, used.size === 0 ? 0 : Math.min(...used.values()));
  }

  function choose(): void {
    const accounts = new Set(waiting.map(({ account }) => account));
    for (const account of used.keys()) if (!accounts.has(account)) used.delete(account);
    const mayStay = current && accounts.has(current.account) && elapsed() - current.since < sliceMs;
    let next = current && mayStay ? current.account : undefined;
    if (next === undefined) current = undefined;
    for (const account of mayStay ? [] : accounts)
      if (next === undefined || usedBy(account) < usedBy(next)) next = account;
    if (next === undefined) isTaken = false;
    else start(next);
  }

  const usedBy = (account: string) => used.get(account) ?? 0;

  function start(account: string): void {
    if (current?.account !== account) current = { account, since: elapsed() };
    const ofAccount = waiting.filter((one) => one.account === account);
    const next = ofAccount.find(({ isAsked }) => isAsked) ?? ofAccount[0];
    if (!next) return;
    waiting.splice(waiting.indexOf(next), 1);
    next.go();
  }

  return async function inTurn<T>(account: string, isAsked: boolean, act: () => Promise<T>): Promise<T> {
    enter(account);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ account, isAsked, go: resolve });
    if (!isTaken) {
      isTaken = true;
      choose();
    }
    await promise;
    const began = elapsed();
    try {
      return await act();
    } finally {
      used.set(account, usedBy(account) + elapsed() - began);
      // What follows in the same work asks before the next one is chosen.
      setImmediate(choose);
    }
  };
}
