/** A migrated database of a test file's own, and one connection to it. */
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** Opens both before the tests of the file, gives them to `take`, and closes them after. */
export function useDatabaseClient(take: (client: pg.Client, database: TestDatabase) => void): void {
  let database: TestDatabase | undefined;
  let client: pg.Client | undefined;
  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    take(client, database);
  });
  afterAll(async () => {
    await client?.end();
    await database?.drop();
  });
}
