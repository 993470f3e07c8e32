/**
 * Brings a backup back into an empty installation: files first, then rows in one transaction, then what is under way is started again. A restore that was
 * ended in its middle leaves no rows or all of them, and is run again.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { withClient as withNamedClient } from '#db/client.ts';
import { appliedMigrations, knownMigrations, migrate } from '#db/migrate.ts';
import { restartAll } from '#db/resume-workflows.ts';
import { folderName } from '#providers/repositories.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { restoreBlobs } from './blobs.ts';
import { blobLines, repositoryLines } from './check.ts';
import { type Past, settlePast } from './expire.ts';
import { BackupFault } from './fault.ts';
import { isSound, type Manifest } from './manifest.ts';
import { unpackRepository } from './repositories.ts';
import type { Place } from './repository.ts';
import { loadTables, tablesOf } from './tables.ts';

export type Restored = {
  blobs: number;
  repositories: number;
  rows: number;
  restarted: Record<string, number>;
  /** What was damaged and is not there now: hashes of files, and repositories as `site_… source`. */
  leftOut: string[];
  past: Past;
};

export type Wishes = {
  /** The installation itself goes on elsewhere: nothing is started, and what waited to be sent never is. */
  isDrill?: boolean;
  /** Brings what is whole of it. Rows have to be. */
  despiteDamage?: boolean;
};

/** In a folder of repositories: which backup is being restored into it. */
const markName = '.restoring';

/** Throws BackupFault where the installation is not empty, or the backup cannot be had from this Frontage, or is damaged. */
export async function restoreBackup(
  { config, clock }: { config: Config; clock: Clock },
  place: Place,
  manifest: Manifest,
  { isDrill = false, despiteDamage = false }: Wishes = {},
): Promise<Restored> {
  requireKnown(manifest);
  const { repositoriesDir } = config;
  if (repositoriesDir === undefined && manifest.repositories.count > 0)
    throw new BackupFault('This installation holds no repositories (FRONTAGE_REPOSITORIES), and the backup does.');
  if (manifest.missing.length > 0 && !despiteDamage)
    throw new BackupFault(`Repositories are missing in this backup: ${manifest.missing.slice(0, 20).join(', ')}.`);
  const leftOut: string[] = [...manifest.missing];
  const leaveOut = despiteDamage ? (what: string) => void leftOut.push(what) : undefined;
  if (!(await isLoaded(config, manifest))) await bring(config, place, manifest, leaveOut);
  await migrate(config.databaseUrl);
  const settled = await withClient(config.databaseUrl, (client) => settle(client, clock, isDrill));
  if (repositoriesDir !== undefined) await rm(join(repositoriesDir, markName), { force: true });
  return {
    blobs: manifest.blobs.count,
    repositories: manifest.repositories.count,
    rows: manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
    leftOut,
    ...settled,
  };
}

/** Whether a restore of this backup was ended after its rows came, and before its end. */
async function isLoaded({ repositoriesDir, databaseUrl }: Config, { name }: Manifest): Promise<boolean> {
  if (repositoriesDir === undefined || (await markOf(repositoriesDir)) !== name) return false;
  return (await withClient(databaseUrl, tableWithRows)) !== undefined;
}

type LeaveOut = ((what: string) => void) | undefined;

async function bring(config: Config, place: Place, manifest: Manifest, leaveOut: LeaveOut): Promise<void> {
  const { repositoriesDir, databaseUrl } = config;
  await withClient(databaseUrl, (client) => requireEmpty(client, manifest));
  if (repositoriesDir !== undefined) await claimFolder(repositoriesDir, manifest.name);
  await restoreBlobs(place.store, createStore(config), blobLines(place.store, manifest), leaveOut);
  if (repositoriesDir !== undefined) await restoreRepositories(place, manifest, repositoriesDir, leaveOut);
  await migrate(databaseUrl, { to: manifest.migrations.at(-1) as string });
  await withClient(databaseUrl, (client) => restoreRows(client, place, manifest));
}

/** In the newest schema, whose rows the questions are about. */
async function settle(
  client: pg.Client,
  clock: Clock,
  isDrill: boolean,
): Promise<Pick<Restored, 'past' | 'restarted'>> {
  await client.query('begin');
  const past = await settlePast(client, clock, { isDrill });
  const restarted = isDrill ? {} : await restartAll(client, clock);
  await client.query('commit');
  return { past, restarted };
}

function requireKnown({ migrations, version }: Manifest): void {
  if (migrations.every((name, index) => knownMigrations[index] === name)) return;
  throw new BackupFault(
    `This backup is of Frontage ${version}, whose schema this one does not know. Restore with that.`,
  );
}

const withClient = <T>(databaseUrl: string, act: (client: pg.Client) => Promise<T>) =>
  withNamedClient(databaseUrl, 'frontage restore', act);

/** What workers write by themselves in an installation that nobody uses yet. */
const ownTables = ['capacity'];

async function requireEmpty(client: pg.Client, { migrations }: Manifest): Promise<void> {
  const had = await appliedMigrations(client);
  if (had.length > 0 && had.length > migrations.length)
    throw new BackupFault(
      'This database has a newer schema than the backup. Make an empty one, and restore before anything is started.',
    );
  const name = await tableWithRows(client);
  if (name === undefined) return;
  const words = `This installation is not empty: its table ${name} has rows. Nothing was changed.`;
  throw new BackupFault(`${words} Restore into a new database and folder.`);
}

async function tableWithRows(client: pg.Client): Promise<string | undefined> {
  for (const { name } of await tablesOf(client)) {
    if (ownTables.includes(name)) continue;
    const { rows } = await client.query(`select exists (select from "${name}") as yes`);
    if (rows[0].yes) return name;
  }
  return undefined;
}

function markOf(dir: string): Promise<string | undefined> {
  return readFile(join(dir, markName), 'utf8').catch(() => undefined);
}

/** Takes the folder for this restore. Throws BackupFault where it holds repositories that no restore of this backup has brought. */
async function claimFolder(dir: string, name: string): Promise<void> {
  const marked = await markOf(dir);
  if (marked === name) return;
  const names = (await readdir(dir).catch(() => [])).filter((one) => !one.startsWith('.'));
  if (names.length > 0 || marked !== undefined)
    throw new BackupFault(`There are repositories in ${dir} already. Nothing was changed: restore into a new folder.`);
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, markName), name, { flush: true });
}

async function restoreRepositories(
  { store }: Place,
  manifest: Manifest,
  dir: string,
  leaveOut: LeaveOut,
): Promise<void> {
  for await (const part of repositoryLines(store, manifest)) {
    const target = join(dir, folderName(part.siteId, part.repository));
    if (await stat(target).catch(() => undefined)) continue;
    const sound = leaveOut ? await Promise.all(part.packs.map((pack) => isSound(store, pack))) : [];
    if (sound.includes(false)) {
      leaveOut?.(`${part.siteId} ${part.repository}`);
      continue;
    }
    const aside = join(dir, '.making', randomUUID());
    await unpackRepository(store, aside, part);
    await rename(aside, target);
  }
}

async function restoreRows(client: pg.Client, { store }: Place, manifest: Manifest): Promise<void> {
  await client.query('begin');
  const tables = await tablesOf(client);
  // Whoever starts meanwhile waits, and finds all of it.
  await client.query(`lock table ${tables.map(({ name }) => `"${name}"`).join(', ')} in access exclusive mode`);
  await requireEmpty(client, manifest);
  await client.query(`delete from capacity`);
  await loadTables(client, store, manifest.tables);
  await client.query('commit');
}
