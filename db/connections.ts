/**
 * Time-outs for a database that is gone without closing its connections, after a power loss or behind a firewall. TCP
 * itself retransmits for 15 minutes (tcp(7), tcp_retries2), and queries would wait that long.
 */
import type { Socket } from 'node:net';
import type pg from 'pg';

/** Longer than any normal statement of a request or an activity. */
export const statementMs = 60_000;
/** How long a call waits for a row that another one has locked. It holds a connection meanwhile. */
export const lockMs = 10_000;
/** For a free connection, or a new one. */
const connectMs = 30_000;
const keepAliveAfterMs = 10_000;

/** Fields of a client that its types omit. */
type Client = pg.PoolClient & { connection: { stream: Socket }; _getActiveQuery(): unknown };

/** Options of `pg.Pool`. Without `statementTimeoutMs`, as in migrations, statements have no time limit. */
export function connectionOptions({
  lockTimeoutMs,
  statementTimeoutMs,
}: {
  lockTimeoutMs?: number | undefined;
  statementTimeoutMs?: number;
}) {
  return {
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    ...(lockTimeoutMs ? { lock_timeout: lockTimeoutMs } : {}),
    // The server cancels a statement a little earlier, so a connection that is silent for the whole time is lost.
    ...(statementTimeoutMs
      ? {
          connectionTimeoutMillis: Math.min(statementTimeoutMs, connectMs),
          statement_timeout: Math.floor(statementTimeoutMs * 0.9),
        }
      : {}),
    onPoolCreated(pool: pg.Pool): void {
      releaseLost(pool);
      if (statementTimeoutMs) pool.on('connect', (client) => destroySilent(client as Client, statementTimeoutMs));
    },
  };
}

/** The driver's own `query_timeout` would leave the connection in the pool while the query is still running. */
function destroySilent(client: Client, statementTimeoutMs: number): void {
  const { stream } = client.connection;
  stream.setTimeout(statementTimeoutMs, () => {
    if (client._getActiveQuery()) stream.destroy(new Error('the database is not responding'));
  });
}

/**
 * A transaction whose connection is lost cannot be rolled back, and Kysely's controlled transactions release only after
 * the rollback. Ten of them would exhaust the pool for good, so a lost connection is released here.
 */
function releaseLost(pool: pg.Pool): void {
  const taken = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => taken.add(client));
  pool.on('release', (_error, client) => taken.delete(client));
  pool.on('connect', (client) => {
    client.once('end', () => {
      if (!taken.has(client)) return;
      client.release(true);
      // Its user may still release it.
      client.release = () => {};
    });
  });
}
