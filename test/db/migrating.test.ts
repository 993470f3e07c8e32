/** Migrations beside a release that answers visitors. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { knownMigrations, migrate } from '#db/migrate.ts';
import { createTestDatabase } from '#test/stack/database.ts';

test('a migration that finds a table held lets go of it for those who come after, and runs when it is free', async () => {
  const database = await createTestDatabase();
  const [reader, visitor] = [1, 2].map(() => new pg.Client({ connectionString: database.url })) as [
    pg.Client,
    pg.Client,
  ];
  onTestFinished(async () => {
    await Promise.all([reader.end(), visitor.end()]);
    await database.drop();
  });
  await Promise.all([reader.connect(), visitor.connect()]);
  await visitor.query('drop schema public cascade; create schema public');
  const known = knownMigrations(database.url);
  const held = '2026-11-22-flags';
  expect(await migrate(database.url, { to: known[known.indexOf(held) - 1] as string })).not.toContain(held);

  await reader.query('begin; select count(*) from deployment');
  const migrating = migrate(database.url);
  const waits = async () => {
    const { rows } = await visitor.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  };
  await expect.poll(waits, { timeout: 20_000, interval: 20 }).toBe(true);
  // Behind a migration that waits, and gives up.
  await visitor.query('select count(*) from deployment');
  await expect.poll(waits, { timeout: 20_000, interval: 20 }).toBe(false);
  await reader.query('commit');
  expect(await migrating).toContain(held);
});
