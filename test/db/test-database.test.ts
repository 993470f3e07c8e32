import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '#test/stack/database.ts';

const databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
afterAll(() => Promise.all(databases.map((one) => one.drop())));

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('a test database has the schema and nothing in it', async () => {
  const [first] = databases;
  expect(await query(first.url, 'select count(*)::int as sites from site')).toEqual([{ sites: 0 }]);
});

test('data written into one test database is not in another', async () => {
  const [first, second] = databases;
  await query(first.url, 'create table mark ()');
  expect(await query(second.url, `select to_regclass('mark') as mark`)).toEqual([{ mark: null }]);
});

test('the role of a test database is no superuser', async () => {
  const [first] = databases;
  expect(await query(first.url, 'select rolsuper from pg_roles where rolname = current_user')).toEqual([
    { rolsuper: false },
  ]);
});
