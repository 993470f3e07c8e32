/** How many git processes one API process runs at a time. The rest wait their turn for a while, then are told to come again. */
import { gitOperations } from '#runtime/telemetry/metrics.ts';
import { GitRefusal } from './access.ts';

export type GitConcurrency = {
  /** Resolves to what gives the place back, when there is one. Throws a 503 when the wait is too long, or too many wait already. */
  acquire(siteId: string): Promise<() => void>;
};

export type GitConcurrencyLimits = {
  /** Exchanges at the same time. */
  running: number;
  /** Of these, for one site: its clones may not keep all others waiting. */
  perSite: number;
  waiting: number;
  waitMs: number;
};

// So that those who wait for one site leave room for those of others.
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
