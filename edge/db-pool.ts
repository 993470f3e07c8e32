import pg from 'pg';

const connectionTimeoutMs = 2_000;

/** A pool of one connection, opened on first use. */
export function openPool(databaseUrl: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: 'frontage edge',
    max: 1,
    keepAlive: true,
    connectionTimeoutMillis: connectionTimeoutMs,
  });
  // The next query reconnects, and reports what is wrong.
  pool.on('error', () => {});
  return pool;
}
