import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { knownMigrations } from '#db/migrations.ts';
import { openBackupRepository } from '#operator/backups/repository.ts';
import { restoreBackup } from '#operator/backups/restore.ts';
import { newId } from '#runtime/ids.ts';
import { keepOpened } from './fixture.ts';

vi.setConfig({ testTimeout: 180_000 });

const { elsewhere, newFolder, closeAll } = keepOpened();
let backups: Awaited<ReturnType<typeof newFolder>>;
beforeAll(async () => {
  backups = await newFolder();
});
afterAll(closeAll);

test('an older backup is migrated, and a newer one is refused', async () => {
  const [older, other] = [await elsewhere(), await elsewhere()];
  const newest = [...knownMigrations];
  for (const { deps } of [older, other]) await deps.em().execute('drop schema public cascade; create schema public');
  await migrate(older.config.databaseUrl, { to: newest.at(-3) as string });
  await older.deps
    .em()
    .execute(`insert into account (id, name, email, created_at) values (?, 'Old', 'old@example.com', ?)`, [
      newId('acct'),
      older.clock.now(),
    ]);
  const manifest = await backups.create(older);
  expect(manifest.migrations).toEqual(newest.slice(0, -2));
  await backups.restore(other);
  const ran = await other.deps.em().execute('select name from mikro_orm_migrations order by id');
  const accounts = await other.deps.em().execute('select 1 from account');
  expect([ran.map(({ name }) => name), accounts.length]).toEqual([newest, 1]);
  const place = await openBackupRepository(older.config, backups.where);
  const newer = { ...manifest, migrations: [...newest, '2027-01-01-tomorrow'] };
  await expect(restoreBackup(await elsewhere(), place, newer)).rejects.toThrow(
    'contains migrations that this version does not have',
  );
  // An empty database whose schema is ahead of the backup's.
  await expect(backups.restore(await elsewhere())).rejects.toThrow('a newer schema than the backup');
});
