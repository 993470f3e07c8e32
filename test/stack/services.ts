/** PostgreSQL with a migrated template, and Temporal: one of each for a test run, in vitest's own process. */
import { join } from 'node:path';
import pg from 'pg';
import { openRunRecords } from '#tools/local/run-records.ts';
import { type Postgres, type PostgresOptions, startPostgres } from '#tools/local/services/postgres.ts';
import { startTemporal } from '#tools/local/services/temporal.ts';
import { copyTemplate, saveTemplate } from './database-template.ts';
import { filesBytes, makeRunFolder, memoryRoot, removeRunFolder, sweepRunFolders } from './run-folder.ts';

/** What tests are told about the run's services. */
export type Services = {
  /** Of the superuser. */
  adminUrl: string;
  /** Of the migrated template database; not to be connected to. */
  templateUrl: string;
  temporalAddress: string;
  /** Where the bundle of the workflows is kept, which the first worker makes. */
  bundleDir: string;
  /** For the folders of test files: in memory if it has room for them, where nothing waits for a disk. */
  filesDir: string;
};

/** Starts both. The answer's `stop` ends them and removes the folders. */
export async function startServices(): Promise<Services & { stop(): Promise<void> }> {
  await sweepRunFolders();
  const folder = makeRunFolder(memoryRoot());
  const filesDir = makeRunFolder(memoryRoot(filesBytes));
  const records = openRunRecords(join(folder, 'run'));
  const [postgres, temporal] = await Promise.all([
    startMigrated({
      dir: join(folder, 'postgres'),
      durable: false,
      onSpawn: (id) => records.add({ name: 'postgres', stopSignal: 'SIGINT', ...id }),
    }),
    startTemporal({
      dir: join(folder, 'temporal'),
      log: console.log,
      onSpawn: (id) => records.add({ name: 'temporal', stopSignal: 'SIGKILL', ...id }),
    }),
  ]);
  return {
    adminUrl: postgres.adminUrl,
    templateUrl: postgres.url,
    temporalAddress: temporal.address,
    bundleDir: join(folder, 'bundle'),
    filesDir,
    async stop() {
      await Promise.all([postgres.stop(), temporal.kill()]);
      for (const one of [folder, filesDir]) removeRunFolder(one);
    },
  };
}

/** A server with the migrated template database; from the cache, which it fills if it is empty. */
async function startMigrated(options: PostgresOptions): Promise<Postgres> {
  if (await copyTemplate(options.dir)) return await startPostgres(options);
  const first = await startPostgres(options);
  const { migrate } = await import('#db/migrate.ts');
  await migrate(first.url);
  await closeTemplate(first.adminUrl);
  await first.stop();
  await saveTemplate(options.dir);
  return await startPostgres(options);
}

/** A database that someone is connected to cannot be a template. */
async function closeTemplate(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query('alter database frontage with allow_connections false');
  await client.end();
}
