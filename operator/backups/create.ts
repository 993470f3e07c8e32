/**
 * Takes a backup while everything goes on. The rows are read in one snapshot, and repositories and store after it: both only ever gain, so that all that
 * the rows name is there. Branches may be ahead of the rows, as they are whenever somebody has pushed and not yet published.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { appliedMigrations } from '#db/migrate.ts';
import own from '#package.json' with { type: 'json' };
import { openRepositories, type Repositories } from '#providers/repositories.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Repository } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { copyBlobs } from './blobs.ts';
import { BackupFault } from './fault.ts';
import { type Mark, outwait, whileMarked } from './locks.ts';
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
import type { Place } from './repository.ts';
import { dumpTable, tablesOf } from './tables.ts';

/** A slot's branch, and the commit of the build that was asked for last. */
type Slot = { siteId: string; repository: Repository; ref: string; commit: string };
type Rows = Pick<Manifest, 'migrations' | 'tables'> & { siteIds: string[]; slots: Slot[] };

type Deps = { config: Config; clock: Clock };

/**
 * Answers the manifest, which is written, and says what is `missing` and `spoilt`. A process that ends before leaves no backup, and the next one finds
 * what was copied. Waits while backups are removed there. Throws BackupFault where others may read the place.
 */
export async function createBackup(deps: Deps, place: Place): Promise<Manifest> {
  await place.claim();
  return await whileMarked(place, 'create', async (mark) => {
    await outwait(mark, 'remove');
    return await createMarked(deps, place, mark);
  });
}

async function createMarked({ config, clock }: Deps, place: Place, mark: Mark): Promise<Manifest> {
  const repositories = config.repositoriesDir === undefined ? undefined : openRepositories(config.repositoriesDir);
  const before = await lastRepositories(place);
  const at = clock.now();
  const { siteIds, slots, ...rows } = await readSnapshot(config.databaseUrl, place);
  const missing: string[] = [];
  const packed = repositories ? packRepositories(place, repositories, { siteIds, slots, before, missing }) : [];
  const spoilt: string[] = [];
  const manifest: Manifest = {
    format: 1,
    name: nameAt(at),
    version: own.version,
    at: at.toISOString(),
    from: { baseUrl: config.baseUrl, baseDomain: config.baseDomain },
    ...rows,
    repositories: await putLines(place.store, packed),
    blobs: await putLines(
      place.store,
      copyBlobs(createStore(config), place.store, (sha256) => spoilt.push(sha256)),
    ),
    withoutRepositories: repositories === undefined,
    missing,
    spoilt,
    endedAt: clock.now().toISOString(),
  };
  await mark.requireHeld();
  await writeManifest(place, manifest);
  // Held up between the two, it may name what was removed meanwhile.
  await mark.requireHeld().catch(async (error) => {
    await place.forget(manifest.name);
    throw error;
  });
  // What backups left that were killed.
  await place.store.sweep();
  return manifest;
}

/** In the order of time, and never the same twice. */
function nameAt(at: Date): string {
  return `${at.toISOString().slice(0, 19).replaceAll(':', '').toLowerCase()}z-${randomBytes(3).toString('hex')}`;
}

async function readSnapshot(databaseUrl: string, place: Place): Promise<Rows> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'frontage backup' });
  // What is asked when a connection is lost says so itself.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const migrations = await appliedMigrations(client);
    if (migrations.length === 0) throw new BackupFault('There is nothing in this database to be kept.');
    const tables: TablePart[] = [];
    for (const table of await tablesOf(client)) tables.push(await dumpTable(client, place.store, table));
    const sites = await client.query<{ id: string }>('select id from site order by id');
    const slots = await client.query<Slot>(
      `select d.site_id as "siteId", r.repository, 'refs/heads/preview/' || p.slot as ref, r.commit
       from preview p join deployment d on d.id = p.latest_id
       cross join lateral (values ('source', d.source_commit), ('content', d.content_commit)) as r (repository, commit)
       where p.removed_at is null and r.commit is not null`,
    );
    await client.query('commit');
    return { migrations, tables, siteIds: sites.rows.map(({ id }) => id), slots: slots.rows };
  } finally {
    await client.end();
  }
}

const keyOf = ({ siteId, repository }: Pick<RepositoryPart, 'siteId' | 'repository'>) => `${siteId} ${repository}`;

type Packing = Pick<Rows, 'siteIds' | 'slots'> & {
  before: Map<string, RepositoryPart>;
  /** Hears of what is not there. */
  missing: string[];
};

async function* packRepositories(
  { store }: Place,
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
      // A slot may have been cleared since the rows were read; they still show it.
      const gone = slots.filter((slot) => keyOf(slot) === keyOf(asked) && !part.refs[slot.ref]);
      yield { ...part, refs: { ...part.refs, ...Object.fromEntries(gone.map(({ ref, commit }) => [ref, commit])) } };
    }
  }
}

/** What the newest backup of the place knows of repositories; nothing where there is none, or it is damaged. */
async function lastRepositories(place: Place): Promise<Map<string, RepositoryPart>> {
  const known = new Map<string, RepositoryPart>();
  try {
    const { repositories } = await readManifest(place);
    for await (const line of readLines(place.store, repositories)) {
      const part: RepositoryPart = JSON.parse(line);
      // Packs that are gone are written anew.
      const held = await place.store.sizes(part.packs.map(({ sha256 }) => sha256));
      if (part.packs.every(({ sha256, bytes }) => held.get(sha256) === bytes)) known.set(keyOf(part), part);
    }
  } catch (error) {
    if (!(error instanceof BackupFault)) throw error;
  }
  return known;
}
