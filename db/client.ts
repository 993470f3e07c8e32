/** One connection of its own, for what does not share the pool of a service. */
import pg from 'pg';

/** `name` is what the database shows of it. Closed when `act` ends: a transaction that is open then is rolled back. */
export async function withClient<T>(
  databaseUrl: string,
  name: string,
  act: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: name });
  // What is asked when a connection is lost says so itself.
  client.on('error', () => {});
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}
