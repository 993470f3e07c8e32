/**
 * Restores a backup into an empty installation: files first, then rows in one transaction; then it restarts unfinished
 * workflows. If it is killed, the database has either no rows or all of them, and it can be run again.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { withClient as withNamedClient } from '#db/client.ts';
import { appliedMigrations, migrate } from '#db/migrate.ts';
import { knownMigrations } from '#db/migrations.ts';
import { resumeWorkflows } from '#db/resume-workflows.ts';
import { folderName } from '#providers/repositories.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { restoreBlobs } from './blobs.ts';
import { blobLines, repositoryLines } from './check.ts';
import { expireCredentials, type Past } from './expire.ts';
import { BackupFault } from './fault.ts';
import { isSound, type Manifest } from './manifest.ts';
import { unpackRepository } from './repositories.ts';
import type { BackupRepository } from './repository.ts';
import { loadTables, tablesOf } from './tables.ts';

export type Restored = {
  blobs: number;
  repositories: number;
  rows: number;
  restarted: Record<string, number>;
  /** Damaged data that was skipped: hashes of files, and repositories as `site_… source`. */
  leftOut: string[];
  past: Past;
};

export type RestoreOptions = {
  /** The installation still runs elsewhere: nothing is started, and waiting messages are never sent. */
  isDryRun?: boolean;
  /** Skips damaged files and repositories. Rows must be intact. */
  despiteDamage?: boolean;
};

/** A file in the repositories folder with the name of the backup that is being restored. */
const stateFile = '.restoring';

/** Throws BackupFault if the installation is not empty, or the backup is damaged or has an unknown schema. */
export async function restoreBackup(
  { config, clock }: { config: Config; clock: Clock },
  repository: BackupRepository,
  manifest: Manifest,
  { isDryRun = false, despiteDamage = false }: RestoreOptions = {},
): Promise<Restored> {
  requireKnown(manifest);
  const { repositoriesDir } = config;
  if (repositoriesDir === undefined && manifest.repositories.count > 0)
    throw new BackupFault(
      'The backup contains repositories, but this installation has no folder for them (FRONTAGE_REPOSITORIES).',
    );
  if (manifest.missing.length > 0 && !despiteDamage)
    throw new BackupFault(`Repositories are missing from this backup: ${manifest.missing.slice(0, 20).join(', ')}.`);
  const leftOut: string[] = [...manifest.missing];
  const leaveOut = despiteDamage ? (what: string) => void leftOut.push(what) : undefined;
  if (!(await isLoaded(config, manifest))) await load(config, repository, manifest, leaveOut);
  await migrate(config.databaseUrl);
  const settled = await withClient(config.databaseUrl, (client) => settle(client, clock, isDryRun));
  if (repositoriesDir !== undefined) await rm(join(repositoriesDir, stateFile), { force: true });
  return {
    blobs: manifest.blobs.count,
    repositories: manifest.repositories.count,
    rows: manifest.tables.reduce((sum, { rows }) => sum + rows, 0),
    leftOut,
    ...settled,
  };
}

/** Whether an earlier restore of this backup stopped after it had loaded the rows. */
async function isLoaded({ repositoriesDir, databaseUrl }: Config, { name }: Manifest): Promise<boolean> {
  if (repositoriesDir === undefined || (await restoringBackup(repositoriesDir)) !== name) return false;
  return (await withClient(databaseUrl, tableWithRows)) !== undefined;
}

type LeaveOut = ((what: string) => void) | undefined;

async function load(
  config: Config,
  repository: BackupRepository,
  manifest: Manifest,
  leaveOut: LeaveOut,
): Promise<void> {
  const { repositoriesDir, databaseUrl } = config;
  await withClient(databaseUrl, (client) => requireEmpty(client, manifest));
  if (repositoriesDir !== undefined) await claimFolder(repositoriesDir, manifest.name);
  await restoreBlobs(repository.store, createStore(config), blobLines(repository.store, manifest), leaveOut);
  if (repositoriesDir !== undefined) await restoreRepositories(repository, manifest, repositoriesDir, leaveOut);
  await migrate(databaseUrl, { to: manifest.migrations.at(-1) as string });
  await withClient(databaseUrl, (client) => restoreRows(client, repository, manifest));
}

/** Runs in the newest schema. */
async function settle(
  client: pg.Client,
  clock: Clock,
  isDryRun: boolean,
): Promise<Pick<Restored, 'past' | 'restarted'>> {
  await client.query('begin');
  const past = await expireCredentials(client, clock, { isDryRun });
  const restarted = isDryRun ? {} : await resumeWorkflows(client, clock);
  await client.query('commit');
  return { past, restarted };
}

function requireKnown({ migrations, version }: Manifest): void {
  if (migrations.every((name, index) => knownMigrations[index] === name)) return;
  throw new BackupFault(
    `This backup was created by Frontage ${version} and contains migrations that this version does not have. Restore it with the version that created it, then move its sites with site export and site import.`,
  );
}

const withClient = <T>(databaseUrl: string, act: (client: pg.Client) => Promise<T>) =>
  withNamedClient(databaseUrl, 'frontage restore', act);

/** Tables that workers fill in an unused installation. */
const ownTables = ['capacity'];

async function requireEmpty(client: pg.Client, { migrations }: Manifest): Promise<void> {
  const had = await appliedMigrations(client);
  if (had.length > 0 && had.length > migrations.length)
    throw new BackupFault(
      'This database has a newer schema than the backup. Restore into a new, empty database before you start any process.',
    );
  const name = await tableWithRows(client);
  if (name === undefined) return;
  const words = `This installation is not empty: the table ${name} has rows. Nothing has been changed.`;
  throw new BackupFault(`${words} Restore into a new database and new folders.`);
}

async function tableWithRows(client: pg.Client): Promise<string | undefined> {
  for (const { name } of await tablesOf(client)) {
    if (ownTables.includes(name)) continue;
    const { rows } = await client.query(`select exists (select from "${name}") as yes`);
    if (rows[0].yes) return name;
  }
  return undefined;
}

function restoringBackup(dir: string): Promise<string | undefined> {
  return readFile(join(dir, stateFile), 'utf8').catch(() => undefined);
}

/** Claims the folder for this restore. Throws BackupFault if it contains repositories from elsewhere. */
async function claimFolder(dir: string, name: string): Promise<void> {
  const restoring = await restoringBackup(dir);
  if (restoring === name) return;
  const names = (await readdir(dir).catch(() => [])).filter((one) => !one.startsWith('.'));
  if (names.length > 0 || restoring !== undefined)
    throw new BackupFault(`${dir} already contains repositories. Nothing has been changed. Restore into a new folder.`);
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, stateFile), name, { flush: true });
}

async function restoreRepositories(
  { store }: BackupRepository,
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

async function restoreRows(client: pg.Client, { store }: BackupRepository, manifest: Manifest): Promise<void> {
  await client.query('begin');
  const tables = await tablesOf(client);
  // A process that starts meanwhile waits, and then finds all rows.
  await client.query(`lock table ${tables.map(({ name }) => `"${name}"`).join(', ')} in access exclusive mode`);
  await requireEmpty(client, manifest);
  await client.query(`delete from capacity`);
  await loadTables(client, store, manifest.tables);
  await client.query('commit');
}
