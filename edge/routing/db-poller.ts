/** How an edge keeps up with the database: by a question each second, at once when it heard of a change, and through times when nobody answers. */
import type { Logger } from 'pino';
import type { Channel, Notifications } from '#db/notifications.ts';

export type Following = {
  /** Resolves when the database has answered, or when it did not and `canDoWithout`. */
  ready: Promise<void>;
  close(): Promise<void>;
};

type Followed = {
  ask(): Promise<void>;
  /** Whether there is something to serve from without an answer. */
  canDoWithout(): boolean;
  channel: Channel;
  changes: Notifications;
  log: Logger;
  /** Runs before the first question. */
  prepare?(): Promise<void>;
};

const askEveryMs = 1_000;

export function follow({ ask, canDoWithout, channel, changes, log, prepare }: Followed): Following {
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>();
  let down = false;
  let closed = false;
  let hurry = () => {};
  let hurried = false;

  async function askOnce(): Promise<void> {
    try {
      await ask();
      if (down) log.info('the database answers again');
      down = false;
      becomeReady();
    } catch (err) {
      if (!down && !closed) log.error({ err }, 'the database does not answer: serving what is known');
      down = true;
      if (canDoWithout()) becomeReady();
    }
  }

  async function keepAsking(): Promise<void> {
    await prepare?.();
    while (!closed) {
      hurried = false;
      await askOnce();
      if (hurried || closed) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, askEveryMs);
        hurry = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  const stop = changes.on(channel, () => {
    hurried = true;
    hurry();
  });
  const asking = keepAsking();

  return {
    ready,
    async close() {
      closed = true;
      stop();
      hurry();
      await asking;
    },
  };
}
