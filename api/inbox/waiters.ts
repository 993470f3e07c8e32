/** Long polling for the first item, with limits. A waiting request holds no database connection. */

import pLimit from 'p-limit';
import type { Actor } from '#api/access.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { createShares } from '#runtime/shares.ts';
import type { InboxItem } from './item.ts';
import { openInboxPoller } from './poller.ts';
import { type Inbox, readInbox } from './rules.ts';

export type Waiting = {
  /**
   * Returns the items as soon as there are any; none after `waitMs`, a disconnect or a shutdown. Throws `rate_limited`
   * when too many requests, of the token, of the account or in total, are waiting.
   */
  wait(actor: Actor, since: Date | undefined, waitMs: number, hungUp: AbortSignal): Promise<InboxItem[]>;
  /** Ends all waits. */
  close(): void;
};

export type WaitLimits = {
  /** Waiting requests of one token. */
  perToken: number;
  /** Waiting requests of one account, with all its tokens. */
  perAccount: number;
  /** Waiting requests of this process. */
  all: number;
  /** Waiting requests that read the database at the same time. */
  reading: number;
};
export const waitLimits: WaitLimits = { perToken: 4, perAccount: 200, all: 2_000, reading: 3 };

/**
 * Waiting requests also read at this interval: some items appear as time passes, and the caller may have joined
 * a site.
 */
const readIntervalMs = 15_000;
const retryAfterSeconds = 5;

export function openWaiting(
  deps: Pick<Deps, 'em' | 'notifications' | 'clock' | 'config' | 'log'>,
  limits = waitLimits,
): Waiting {
  const poller = openInboxPoller(deps);
  const inTurn = pLimit(limits.reading);
  const tokens = createShares({ each: limits.perToken, all: limits.all });
  const accounts = createShares({ each: limits.perAccount, all: limits.all });
  const ends = new Set<() => void>();
  let closing = false;

  function enter({ tokenId, accountId }: Actor, end: () => void): () => void {
    if (ends.size >= limits.all) throw tooMany('Too many calls are waiting at the moment.');
    const leaveToken = tokens.take(tokenId);
    if (!leaveToken) throw tooMany(`${limits.perToken} calls with this token are already waiting.`);
    const leaveAccount = accounts.take(accountId);
    if (!leaveAccount) {
      leaveToken();
      throw tooMany(`${limits.perAccount} calls of this account are already waiting.`);
    }
    ends.add(end);
    return () => {
      ends.delete(end);
      leaveToken();
      leaveAccount();
    };
  }

  return {
    async wait(actor, since, waitMs, hungUp) {
      const pause = openPause();
      let ended = closing || hungUp.aborted;
      const end = () => {
        ended = true;
        pause.wake();
      };
      const leave = enter(actor, end);
      hungUp.addEventListener('abort', end);
      let inbox: Inbox | undefined;
      const until = performance.now() + waitMs;
      let unfollow = () => {};
      try {
        unfollow = await poller.follow({ concerns: (topic) => inbox?.topics.has(topic) ?? true, wake: pause.wake });
        while (!ended) {
          pause.begin();
          inbox = await inTurn(() => readInbox(deps.em(), deps, actor, { since }));
          const leftMs = until - performance.now();
          if (inbox.items.length > 0 || leftMs <= 0) break;
          await pause.over(Math.min(leftMs, readIntervalMs));
        }
        return inbox?.items ?? [];
      } finally {
        unfollow();
        hungUp.removeEventListener('abort', end);
        leave();
      }
    },
    close() {
      closing = true;
      for (const end of ends) end();
    },
  };
}

function tooMany(message: string): AppError {
  return errors.rate_limited(message, {
    nextAction: `Wait until a waiting call returns, or call again without \`wait\` after ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  });
}

/** A pause that ends after its time, or at once if `wake` was called since `begin`. */
function openPause() {
  let isWoken = false;
  let go = () => {};
  return {
    wake() {
      isWoken = true;
      go();
    },
    begin() {
      isWoken = false;
    },
    async over(ms: number): Promise<void> {
      if (isWoken) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        go = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}
