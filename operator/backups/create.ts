/**
 * Creates a backup while the installation runs. Rows are read in one snapshot; repositories and store are read after
 * it. Both are append-only except for the purge of a deleted site, which waits for the backup, so they contain
 * everything the rows refer to. Branches may be ahead of the rows, as after any push that is not yet published.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { appliedMigrations } from '#db/migrate.ts';
import { preventRemovals } from '#db/removal-lock.ts';
import own from '#package.json' with { type: 'json' };
import { openRepositories, type Repositories } from '#providers/repositories.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Repository } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { copyBlobs } from './blobs.ts';
import { BackupFault } from './fault.ts';
import { type Lock, waitForLocks, withLock } from './locks.ts';
import {
  type Manifest,
  putLines,
  type RepositoryPart,
  readLines,
  readManifest,
  type TablePart,
  writeManifest,
} from './manifest.ts';
import { packRepository, readTogether } from './repositories.ts';
import type { BackupRepository } from './repository.ts';
import { dumpTable, tablesOf } from './tables.ts';

/** A preview slot's branch, and the commit of its latest build. */
type Slot = { siteId: string; repository: Repository; ref: string; commit: string };
type Rows = Pick<Manifest, 'migrations' | 'tables'> & { siteIds: string[]; slots: Slot[] };

type Deps = { config: Config; clock: Clock };

/**
 * Returns the manifest after writing it; it lists what is `missing` and `corrupt`. If the process is killed, there is
 * no backup, but the next one reuses the copied parts. Waits while backups are being removed there. Throws BackupFault
 * if other users can read the folder.
 */
export async function createBackup(deps: Deps, repository: BackupRepository): Promise<Manifest> {
  await repository.claim();
  return await withLock(repository, 'create', async (lock) => {
    await waitForLocks(lock, 'remove');
    const client = await connect(deps.config.databaseUrl);
    try {
      await preventRemovals(client);
      return await createLocked(deps, repository, { lock, client });
    } finally {
      await client.end();
    }
  });
}

/** Its locks are held until it disconnects, which takes as long as the backup. */
async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'frontage backup',
    keepAlive: true,
  });
  // A query reports a lost connection itself.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Throws BackupFault if the connection was lost, and with it the lock that keeps purges away. */
async function requireConnected(client: pg.Client): Promise<void> {
  await client.query('select 1').catch(() => {
    throw new BackupFault('The connection to the database was lost during the backup. Run it again.');
  });
}

async function createLocked(
  { config, clock }: Deps,
  repository: BackupRepository,
  { lock, client }: { lock: Lock; client: pg.Client },
): Promise<Manifest> {
  const repositories = config.repositoriesDir === undefined ? undefined : openRepositories(config.repositoriesDir);
  const before = await lastRepositories(repository);
  const at = clock.now();
  const { siteIds, slots, ...rows } = await readSnapshot(client, repository);
  const missing: string[] = [];
  const packed = repositories ? packRepositories(repository, repositories, { siteIds, slots, before, missing }) : [];
  const corrupt: string[] = [];
  const manifest: Manifest = {
    format: 1,
    name: nameAt(at),
    version: own.version,
    at: at.toISOString(),
    from: { baseUrl: config.baseUrl, baseDomain: config.baseDomain },
    ...rows,
    repositories: await putLines(repository.store, packed),
    blobs: await putLines(
      repository.store,
      copyBlobs(createStore(config), repository.store, (sha256) => corrupt.push(sha256)),
    ),
    withoutRepositories: repositories === undefined,
    missing,
    corrupt,
    endedAt: clock.now().toISOString(),
  };
  await requireConnected(client);
  await lock.requireHeld();
  await writeManifest(repository, manifest);
  // After a delay between the two, the manifest may refer to parts that were removed meanwhile.
  await lock.requireHeld().catch(async (error) => {
    await repository.forget(manifest.name);
    throw error;
  });
  // Removes temporary files of killed backups.
  await repository.store.sweep();
  return manifest;
}

/** Sorts by time and is unique. */
function nameAt(at: Date): string {
  return `${at.toISOString().slice(0, 23).replaceAll(/[:.]/g, '').toLowerCase()}z-${randomBytes(3).toString('hex')}`;
}

async function readSnapshot(client: pg.Client, repository: BackupRepository): Promise<Rows> {
  await client.query('begin isolation level repeatable read read only');
  const migrations = await appliedMigrations(client);
  if (migrations.length === 0) throw new BackupFault('The database is empty: there is nothing to back up.');
  const tables: TablePart[] = [];
  for (const table of await tablesOf(client)) tables.push(await dumpTable(client, repository.store, table));
  const sites = await client.query<{ id: string }>('select id from site where purged_at is null order by id');
  const slots = await client.query<Slot>(
    `select d.site_id as "siteId", r.repository, 'refs/heads/preview/' || p.slot as ref, r.commit
     from preview p join deployment d on d.id = p.latest_id
     cross join lateral (values ('source', d.source_commit), ('content', d.content_commit)) as r (repository, commit)
     where p.removed_at is null and r.commit is not null`,
  );
  await client.query('commit');
  return { migrations, tables, siteIds: sites.rows.map(({ id }) => id), slots: slots.rows };
}

const keyOf = ({ siteId, repository }: Pick<RepositoryPart, 'siteId' | 'repository'>) => `${siteId} ${repository}`;

type Packing = Pick<Rows, 'siteIds' | 'slots'> & {
  before: Map<string, RepositoryPart>;
  /** Receives the missing repositories. */
  missing: string[];
};

async function* packRepositories(
  { store }: BackupRepository,
  repositories: Repositories,
  { siteIds, slots, before, missing }: Packing,
): AsyncGenerator<RepositoryPart> {
  for (const siteId of siteIds) {
    const held: Repository[] = [];
    for (const repository of ['source', 'content'] as const) {
      if (await repositories.exists(siteId, repository)) held.push(repository);
      else missing.push(keyOf({ siteId, repository }));
    }
    const together = await readTogether(held.map((repository) => repositories.place(siteId, repository)));
    for (const [index, repository] of held.entries()) {
      const asked = { siteId, repository, refs: together[index] ?? {} };
      const part = await packRepository(store, repositories.place(siteId, repository), asked, before.get(keyOf(asked)));
      // A preview slot may have been deleted since the rows were read; the rows still refer to it.
      const gone = slots.filter((slot) => keyOf(slot) === keyOf(asked) && !part.refs[slot.ref]);
      yield { ...part, refs: { ...part.refs, ...Object.fromEntries(gone.map(({ ref, commit }) => [ref, commit])) } };
    }
  }
}

/** Repositories in the newest backup; none if there is no backup or it is damaged. */
async function lastRepositories(repository: BackupRepository): Promise<Map<string, RepositoryPart>> {
  const known = new Map<string, RepositoryPart>();
  try {
    const { repositories } = await readManifest(repository);
    for await (const line of readLines(repository.store, repositories)) {
      const part: RepositoryPart = JSON.parse(line);
      // Missing packs are written again.
      const held = await repository.store.sizes(part.packs.map(({ sha256 }) => sha256));
      if (part.packs.every(({ sha256, bytes }) => held.get(sha256) === bytes)) known.set(keyOf(part), part);
    }
  } catch (error) {
    if (!(error instanceof BackupFault)) throw error;
  }
  return known;
}
