/**
 * Limits what runs at a time in this process, in all and for each account. The rest waits in a bounded queue. Not
 * p-limit: accounts share the limit fairly, the queue is bounded, and a waiter times out.
 */

export type AccountSlots = {
  /** Whether `acquire` would not wait. */
  isFree(accountId: string): boolean;
  /** Resolves to a release function. Throws the refusal if the wait is too long or the queue is full. */
  acquire(accountId: string): Promise<() => void>;
};

export type AccountSlotLimits = {
  /** Maximum that runs at a time. */
  running: number;
  /** Maximum of these for one account, so that it does not delay all others. */
  perAccount: number;
  waiting: number;
  /** How much of the queue one account may fill; half of it if not given. */
  waitingPerAccount?: number;
  waitMs: number;
};

type Use = {
  refusal(): Error;
  /** Counts what runs and what waits, for the metrics. */
  counts?: { running: number; waiting: number };
};

type Waiter = { accountId: string; start: () => void };

export function createAccountSlots(
  { running, perAccount, waiting, waitingPerAccount = waiting / 2, waitMs }: AccountSlotLimits,
  { refusal, counts = { running: 0, waiting: 0 } }: Use,
): AccountSlots {
  const byAccount = new Map<string, number>();
  const queue: Waiter[] = [];
  let count = 0;

  const waitingOf = (accountId: string) => queue.filter((waiter) => waiter.accountId === accountId).length;
  const mayStart = (accountId: string) => count < running && (byAccount.get(accountId) ?? 0) < perAccount;

  function occupy(accountId: string): () => void {
    count += 1;
    counts.running += 1;
    byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      count -= 1;
      counts.running -= 1;
      const left = (byAccount.get(accountId) ?? 1) - 1;
      if (left > 0) byAccount.set(accountId, left);
      else byAccount.delete(accountId);
      const next = queue.findIndex((waiter) => mayStart(waiter.accountId));
      if (next !== -1) queue.splice(next, 1)[0]?.start();
    };
  }

  return {
    isFree: mayStart,
    async acquire(accountId) {
      if (mayStart(accountId)) return occupy(accountId);
      if (queue.length >= waiting || waitingOf(accountId) >= waitingPerAccount) throw refusal();
      return await new Promise((taken, refused) => {
        const waiter: Waiter = {
          accountId,
          start: () => {
            clearTimeout(timer);
            counts.waiting -= 1;
            taken(occupy(accountId));
          },
        };
        const timer = setTimeout(() => {
          queue.splice(queue.indexOf(waiter), 1);
          counts.waiting -= 1;
          refused(refusal());
        }, waitMs);
        queue.push(waiter);
        counts.waiting += 1;
      });
    },
  };
}
