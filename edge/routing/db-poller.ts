/** Polls the database each second and after each NOTIFY, and survives outages. */
import type { Logger } from 'pino';
import type { Channel, Notifications } from '#db/notifications.ts';

export type Poller = {
  /** Resolves when the database has responded, or if there is a fallback after a failure or `fallBackAfterMs`. */
  ready: Promise<void>;
  close(): Promise<void>;
};

type PollerOptions = {
  poll(): Promise<void>;
  /** Whether the edge can serve without what the database will return. */
  hasFallback(): boolean;
  /** How long a start waits for the database before the fallback. Absent: until it responds or fails. */
  fallBackAfterMs?: number;
  channel: Channel;
  notifications: Notifications;
  log: Logger;
};

const pollEveryMs = 1_000;

export function startPoller({
  poll,
  hasFallback,
  fallBackAfterMs,
  channel,
  notifications,
  log,
}: PollerOptions): Poller {
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>();
  let down = false;
  let closed = false;
  let wake = () => {};
  let notified = false;

  async function pollOnce(): Promise<void> {
    try {
      await poll();
      if (down) log.info('the database is responding again');
      down = false;
      becomeReady();
    } catch (err) {
      if (!down && !closed) log.error({ err }, 'the database is not responding; serving sites from memory');
      down = true;
      if (hasFallback()) becomeReady();
    }
  }

  async function pollUntilClosed(): Promise<void> {
    if (fallBackAfterMs !== undefined) {
      const falling = setTimeout(() => hasFallback() && becomeReady(), fallBackAfterMs);
      void ready.then(() => clearTimeout(falling));
    }
    while (!closed) {
      notified = false;
      await pollOnce();
      if (notified || closed) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollEveryMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  const stop = notifications.on(channel, () => {
    notified = true;
    wake();
  });
  const polling = pollUntilClosed();

  return {
    ready,
    async close() {
      closed = true;
      stop();
      wake();
      await polling;
    },
  };
}
