/**
 * Session-level advisory locks of PostgreSQL, which end with the connection. For work without a transaction that must
 * not run twice at once, such as sending a mail.
 */
import pg from 'pg';
import type { Logger } from 'pino';

export type AdvisoryLocks = {
  /** Runs it under the lock, or returns `{ busy: true }` at once if this or another process holds the lock. */
  run<T>(key: string, act: () => Promise<T>): Promise<{ busy: true } | { busy: false; value: T }>;
  close(): Promise<void>;
};

const timeoutMs = 5_000;
/** Locks of a machine that lost its power are released after half a minute (tcp(7)). */
const session = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4';

/** Connects at the first use, with one connection for all keys, and reconnects after a loss. */
export function openAdvisoryLocks(databaseUrl: string, log: Logger): AdvisoryLocks {
  const heldKeys = new Set<string>();
  let opening: Promise<pg.Client> | undefined;
  let current: pg.Client | undefined;

  function connected(): Promise<pg.Client> {
    opening ??= connect().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'frontage exclusive',
      options: session,
      keepAlive: true,
      keepAliveInitialDelayMillis: timeoutMs,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    current = client;
    const lost = (error?: Error) => {
      if (error) log.warn({ err: error }, 'the database connection that holds the locks was lost');
      if (current === client) opening = undefined;
    };
    client.on('error', lost);
    client.on('end', () => lost());
    await client.connect();
    return client;
  }

  // One query at a time per connection.
  let turn: Promise<unknown> = Promise.resolve();
  async function ask(client: pg.Client, question: 'pg_try_advisory_lock' | 'pg_advisory_unlock', key: string) {
    const asked = turn.then(() => client.query(`select ${question}(hashtextextended($1, 0)) as yes`, [key]));
    turn = asked.catch(() => {});
    return (await asked).rows[0]?.yes === true;
  }

  /** Drops the connection; the server releases its locks when it notices. */
  function giveUp(client: pg.Client): void {
    if (current === client) opening = undefined;
    client.end().catch(() => {});
  }

  async function tryLock(client: pg.Client, key: string): Promise<boolean> {
    try {
      return await ask(client, 'pg_try_advisory_lock', key);
    } catch (error) {
      // The query may still succeed, and its lock would never be released.
      giveUp(client);
      throw error;
    }
  }

  return {
    async run(key, act) {
      // A session can acquire its own lock again.
      if (heldKeys.has(key)) return { busy: true };
      heldKeys.add(key);
      try {
        const client = await connected();
        if (!(await tryLock(client, key))) return { busy: true };
        try {
          return { busy: false, value: await act() };
        } finally {
          // If that fails, the connection is dropped with its locks.
          await ask(client, 'pg_advisory_unlock', key).catch(() => giveUp(client));
        }
      } finally {
        heldKeys.delete(key);
      }
    },
    async close() {
      const client = await opening?.catch(() => undefined);
      await client?.end().catch(() => {});
    },
  };
}
