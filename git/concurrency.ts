/**
 * Limits the git processes of one API process. Others wait in a bounded queue, then get a 503. Not p-limit: the limit
 * is shared fairly among sites, the queue is bounded, and a waiter times out.
 */
import { gitOperations } from '#runtime/telemetry/metrics.ts';
import { GitRefusal } from './access.ts';

export type GitConcurrency = {
  /** Resolves to a release function. Throws a 503 if the wait is too long or the queue is full. */
  acquire(siteId: string): Promise<() => void>;
};

export type GitConcurrencyLimits = {
  /** Maximum number of concurrent exchanges. */
  running: number;
  /** Maximum of these per site, so that the clones of one site do not delay all others. */
  perSite: number;
  waiting: number;
  waitMs: number;
};

// One site may fill only this share of the queue.
const siteQueueShare = 1 / 2;

type Waiter = { siteId: string; start: () => void };

export function createGitConcurrency({ running, perSite, waiting, waitMs }: GitConcurrencyLimits): GitConcurrency {
  const bySite = new Map<string, number>();
  const queue: Waiter[] = [];
  let count = 0;

  const waitingOf = (siteId: string) => queue.filter((waiter) => waiter.siteId === siteId).length;
  const mayStart = (siteId: string) => count < running && (bySite.get(siteId) ?? 0) < perSite;

  function occupy(siteId: string): () => void {
    count += 1;
    gitOperations.running += 1;
    bySite.set(siteId, (bySite.get(siteId) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      count -= 1;
      gitOperations.running -= 1;
      const left = (bySite.get(siteId) ?? 1) - 1;
      if (left > 0) bySite.set(siteId, left);
      else bySite.delete(siteId);
      const next = queue.findIndex((waiter) => mayStart(waiter.siteId));
      if (next !== -1) queue.splice(next, 1)[0]?.start();
    };
  }

  return {
    async acquire(siteId) {
      if (mayStart(siteId)) return occupy(siteId);
      if (queue.length >= waiting || waitingOf(siteId) >= waiting * siteQueueShare) throw busy();
      return await new Promise((taken, refused) => {
        const waiter: Waiter = {
          siteId,
          start: () => {
            clearTimeout(timer);
            gitOperations.waiting -= 1;
            taken(occupy(siteId));
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
