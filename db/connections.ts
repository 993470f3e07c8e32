/**
 * What connections of the pool do about a database that vanished: its machine lost its power, or a firewall forgot them, and nobody says goodbye.
 * TCP itself would send what was asked again for a quarter of an hour (tcp(7), tcp_retries2), and whoever asked would wait for as long.
 */
import type { Socket } from 'node:net';
import type pg from 'pg';

/** Longer than any honest statement of a call or a step. */
export const statementMs = 60_000;
/** Before it waits no longer for a free connection, or a new one. */
const connectMs = 30_000;
const keepAliveAfterMs = 10_000;

/** What of a client its types do not tell. */
type Client = pg.PoolClient & { connection: { stream: Socket }; _getActiveQuery(): unknown };

/** Options of `pg.Pool`. Without `patienceMs` statements may take as long as they want, as those of migrations do. */
export function connectionOptions({ lockTimeoutMs, patienceMs }: { lockTimeoutMs?: number; patienceMs?: number }) {
  return {
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    ...(lockTimeoutMs ? { lock_timeout: lockTimeoutMs } : {}),
    // The server ends a statement a little earlier, so that what is silent for all the time is lost.
    ...(patienceMs
      ? { connectionTimeoutMillis: Math.min(patienceMs, connectMs), statement_timeout: Math.floor(patienceMs * 0.9) }
      : {}),
    onPoolCreated(pool: pg.Pool): void {
      releaseLost(pool);
      if (patienceMs) pool.on('connect', (client) => destroySilent(client as Client, patienceMs));
    },
  };
}

/** The driver's own `query_timeout` would leave the connection in the pool, with the question still under way. */
function destroySilent(client: Client, patienceMs: number): void {
  const { stream } = client.connection;
  stream.setTimeout(patienceMs, () => {
    if (client._getActiveQuery()) stream.destroy(new Error('the database is silent'));
  });
}

/**
 * A transaction that cannot be rolled back, because its connection is lost, keeps its place in the pool for good (Kysely's controlled transactions
 * release after the rollback alone): ten of them, and nobody would ever get a connection again. So the pool takes back what is lost.
 */
function releaseLost(pool: pg.Pool): void {
  const taken = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => taken.add(client));
  pool.on('release', (_error, client) => taken.delete(client));
  pool.on('connect', (client) => {
    client.once('end', () => {
      if (!taken.has(client)) return;
      client.release(true);
      // Who had it may give it back all the same.
      client.release = () => {};
    });
  });
}
