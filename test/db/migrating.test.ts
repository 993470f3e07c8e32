/** Migrations beside a release that serves visitors. */
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { knownMigrations } from '#db/migrations.ts';
import { createTestDatabase } from '#test/stack/database.ts';

test('a migration waiting for a locked table lets later queries pass, and runs afterwards', async () => {
  const database = await createTestDatabase();
  const [writer, visitor] = [1, 2].map(() => new pg.Client({ connectionString: database.url })) as [
    pg.Client,
    pg.Client,
  ];
  onTestFinished(async () => {
    await Promise.all([writer.end(), visitor.end()]);
    await database.drop();
  });
  await Promise.all([writer.connect(), visitor.connect()]);
  await visitor.query('drop schema public cascade; create schema public');
  // References deployment, so it takes a lock that conflicts with writes.
  const held = '2026-11-22-scanning';
  const previous = knownMigrations[knownMigrations.indexOf(held) - 1] as string;
  expect(await migrate(database.url, { to: previous })).not.toContain(held);

  await writer.query('begin; lock table deployment in row exclusive mode');
  const migrating = migrate(database.url);
  const waits = async () => {
    const { rows } = await visitor.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  };
  await expect.poll(waits, { timeout: 20_000, interval: 20 }).toBe(true);
  // Queues behind the waiting migration until that gives up.
  await visitor.query('delete from deployment where false');
  await expect.poll(waits, { timeout: 20_000, interval: 20 }).toBe(false);
  await writer.query('commit');
  expect(await migrating).toContain(held);
});
