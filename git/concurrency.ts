/**
 * Limits the git processes of one API process. Others wait in a bounded queue, then get a 503. Not p-limit: the limit
 * is shared fairly among accounts, the queue is bounded, and a waiter times out.
 */
import { gitOperations } from '#runtime/telemetry/metrics.ts';
import { GitRefusal } from './access.ts';

export type GitConcurrency = {
  /** Resolves to a release function. Throws a 503 if the wait is too long or the queue is full. */
  acquire(accountId: string): Promise<() => void>;
};

export type GitConcurrencyLimits = {
  /** Maximum number of concurrent exchanges. */
  running: number;
  /** Maximum of these for the sites of one account, so that its clones do not delay all others. */
  perAccount: number;
  waiting: number;
  waitMs: number;
};

// One account may fill only this share of the queue.
const accountQueueShare = 1 / 2;

type Waiter = { accountId: string; start: () => void };

export function createGitConcurrency({ running, perAccount, waiting, waitMs }: GitConcurrencyLimits): GitConcurrency {
  const byAccount = new Map<string, number>();
  const queue: Waiter[] = [];
  let count = 0;

  const waitingOf = (accountId: string) => queue.filter((waiter) => waiter.accountId === accountId).length;
  const mayStart = (accountId: string) => count < running && (byAccount.get(accountId) ?? 0) < perAccount;

  function occupy(accountId: string): () => void {
    count += 1;
    gitOperations.running += 1;
    byAccount.set(accountId, (byAccount.get(accountId) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      count -= 1;
      gitOperations.running -= 1;
      const left = (byAccount.get(accountId) ?? 1) - 1;
      if (left > 0) byAccount.set(accountId, left);
      else byAccount.delete(accountId);
      const next = queue.findIndex((waiter) => mayStart(waiter.accountId));
      if (next !== -1) queue.splice(next, 1)[0]?.start();
    };
  }

  return {
    async acquire(accountId) {
      if (mayStart(accountId)) return occupy(accountId);
      if (queue.length >= waiting || waitingOf(accountId) >= waiting * accountQueueShare) throw busy();
      return await new Promise((taken, refused) => {
        const waiter: Waiter = {
          accountId,
          start: () => {
            clearTimeout(timer);
            gitOperations.waiting -= 1;
            taken(occupy(accountId));
          },
        };
        const timer = setTimeout(() => {
          queue.splice(queue.indexOf(waiter), 1);
          gitOperations.waiting -= 1;
          refused(busy());
        }, waitMs);
        queue.push(waiter);
        gitOperations.waiting += 1;
      });
    },
  };
}

export const retryAfterSeconds = 10;

function busy(): GitRefusal {
  const message = `Too many clones and pushes are running. Wait ${retryAfterSeconds} s, then try again.`;
  return new GitRefusal(503, message, retryAfterSeconds);
}
