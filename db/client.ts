/** A single connection, outside the pool of a service. */
import pg from 'pg';

/** `name` is its `application_name`. Closed when `act` ends, which rolls back an open transaction. */
export async function withClient<T>(
  databaseUrl: string,
  name: string,
  act: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: name });
  // A query on a lost connection throws an error of its own.
  client.on('error', () => {});
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}
