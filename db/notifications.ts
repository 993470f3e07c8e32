/**
 * Notifications of changes by other processes (LISTEN), over one connection. Only an optimisation: every waiter polls
 * too.
 */
import pg from 'pg';
import type { Logger } from 'pino';

const channels = [
  'site_changed',
  'deployment_changed',
  'inbox_changed',
  'outbox_added',
  'payment_changed',
  'domain_changed',
  'certificate_changed',
  'rendering_changed',
] as const;
export type Channel = (typeof channels)[number];

/** Called with the id that changed, or with `undefined` if notifications may have been lost. */
export type Listener = (id: string | undefined) => void;

export type Notifications = {
  /** Listens to the channel. Returns the function that stops it. */
  on(channel: Channel, listener: Listener): () => void;
  /** Aborted when this process terminates: waiters return what they have loaded. */
  ending?: AbortSignal | undefined;
  close(): Promise<void>;
};

const queryTimeoutMs = 5_000;
const retryAfterMs = 500;

/** Starts to listen, and reconnects after a loss. Each loss and each recovery is one line in the log. */
export function openNotifications(databaseUrl: string, log: Logger, ending?: AbortSignal): Notifications {
  const listeners = new Map<Channel, Set<Listener>>(channels.map((channel) => [channel, new Set()]));
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let interrupted = false;
  let closed = false;

  function tell(channel: Channel, id: string | undefined): void {
    for (const listener of listeners.get(channel) ?? []) listener(id);
  }

  function lost(failed: pg.Client, error?: Error): void {
    if (closed || failed !== client) return;
    client = undefined;
    if (!interrupted) log.warn({ err: error }, 'stopped listening for database notifications because of an error');
    interrupted = true;
    failed.end().catch(() => {});
    retry = setTimeout(() => void connect(), retryAfterMs);
  }

  async function connect(): Promise<void> {
    const next = openClient(databaseUrl);
    client = next;
    next.on('error', (error) => lost(next, error));
    next.on('end', () => lost(next));
    next.on('notification', ({ channel, payload }) => tell(channel as Channel, payload));
    try {
      await next.connect();
      for (const channel of channels) await next.query(`listen ${channel}`);
    } catch (error) {
      lost(next, error as Error);
      return;
    }
    if (interrupted) log.info('listening for database notifications again');
    interrupted = false;
    for (const channel of channels) tell(channel, undefined);
  }

  void connect();
  return {
    on(channel, listener) {
      listeners.get(channel)?.add(listener);
      return () => listeners.get(channel)?.delete(listener);
    },
    ending,
    async close() {
      closed = true;
      clearTimeout(retry);
      await client?.end().catch(() => {});
    },
  };
}

/** Both connecting and each query time out, if the server accepts the connection and then does not respond. */
function openClient(databaseUrl: string): pg.Client {
  return new pg.Client({
    connectionString: databaseUrl,
    application_name: 'frontage changes',
    keepAlive: true,
    keepAliveInitialDelayMillis: queryTimeoutMs,
    connectionTimeoutMillis: queryTimeoutMs,
    query_timeout: queryTimeoutMs,
  });
}

/**
 * Loads until `done`, until `timeoutMs` have passed or the process terminates, and returns the last value. Loads again
 * at each notification of `id`, and each second in case one was lost.
 */
export async function loadUntil<T>(
  notifications: Notifications,
  on: { channel: Channel; id: string },
  load: () => Promise<T>,
  done: (value: T) => boolean,
  timeoutMs: number,
): Promise<T> {
  let resume: () => void = () => {};
  const stop = notifications.on(on.channel, (id) => {
    if (id === undefined || id === on.id) resume();
  });
  const end = performance.now() + timeoutMs;
  const wake = () => resume();
  notifications.ending?.addEventListener('abort', wake);
  try {
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const change = new Promise<void>((resolve) => {
        resume = resolve;
        timer = setTimeout(resolve, Math.max(0, Math.min(1000, end - performance.now())));
      });
      const value = await load();
      if (done(value) || performance.now() >= end || notifications.ending?.aborted) {
        clearTimeout(timer);
        return value;
      }
      await change;
      clearTimeout(timer);
    }
  } finally {
    notifications.ending?.removeEventListener('abort', wake);
    stop();
  }
}
