/** Verifies a backup: every part is intact, and it contains everything that its rows refer to. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blobColumns } from '#db/blob-columns.ts';
import { parseManifest } from '#providers/manifest.ts';
import type { Store } from '#providers/store/store.ts';
import { unsoundBlobs } from './blobs.ts';
import { type BlobLine, isSound, type Manifest, type RepositoryPart, readLines, type TablePart } from './manifest.ts';
import { missingCommits, unpackRepository } from './repositories.ts';
import type { BackupRepository } from './repository.ts';
import { rowsOf } from './tables.ts';

export type Checked = {
  faults: string[];
  /** Hashes of damaged parts, for `setDamagedAside`. */
  damaged: string[];
  tables: number;
  repositories: number;
  blobs: number;
};

/** Reads all of the backup and writes nothing. `faults` is empty if it can be restored completely. */
export async function checkBackup({ store }: BackupRepository, manifest: Manifest): Promise<Checked> {
  const checked = await checkLists(store, manifest);
  const { faults, damaged } = checked;
  if (faults.length > 0) return checked;
  const unsound = new Set(await collect(unsoundBlobs(store, blobLines(store, manifest))));
  for (const sha256 of unsound) faults.push(`the file ${sha256} is damaged`);
  damaged.push(...unsound);
  faults.push(...(await missingBlobs(store, manifest, unsound)));
  const named = await namedCommits(store, manifest.tables);
  const present = new Set<string>();
  for await (const part of repositoryLines(store, manifest)) {
    checked.repositories += 1;
    const key = `${part.siteId} ${part.repository}`;
    present.add(key);
    faults.push(...(await repositoryFaults(store, part, named.get(key) ?? [], damaged)));
  }
  for (const site of manifest.withoutRepositories ? [] : await sitesOf(store, manifest.tables))
    for (const repository of ['source', 'content'])
      if (!present.has(`${site} ${repository}`)) faults.push(`the ${repository} repository of ${site} is missing`);
  return checked;
}

/** Moves damaged parts aside, so that the next backup writes them again. Returns their number. */
export async function setDamagedAside(repository: BackupRepository, { damaged }: Checked): Promise<number> {
  let moved = 0;
  for (const sha256 of damaged) if (await repository.setAside(sha256)) moved += 1;
  return moved;
}

async function checkLists(store: Store, manifest: Manifest): Promise<Checked> {
  const { tables, repositories, blobs } = manifest;
  const checked: Checked = { faults: [], damaged: [], tables: tables.length, repositories: 0, blobs: blobs.count };
  const parts = tables.map((table) => [`the table ${table.name}`, table] as const);
  for (const [what, part] of [
    ...parts,
    ['the list of repositories', repositories],
    ['the list of blobs', blobs],
  ] as const) {
    if (await isSound(store, part)) continue;
    checked.faults.push(`${what} is damaged`);
    checked.damaged.push(part.sha256);
  }
  return checked;
}

async function sitesOf(store: Store, tables: readonly TablePart[]): Promise<string[]> {
  const sites = tables.find(({ name }) => name === 'site');
  if (!sites) return [];
  const rows = await collect(rowsOf(store, sites, ['id', 'purged_at']));
  return rows.filter(([, purgedAt]) => !purgedAt).map(([id]) => id as string);
}

export async function* blobLines(store: Store, { blobs }: Manifest): AsyncGenerator<BlobLine> {
  for await (const line of readLines(store, blobs)) if (line) yield JSON.parse(line);
}

export async function* repositoryLines(store: Store, { repositories }: Manifest): AsyncGenerator<RepositoryPart> {
  for await (const line of readLines(store, repositories)) if (line) yield JSON.parse(line);
}

async function missingBlobs(store: Store, manifest: Manifest, unsound: ReadonlySet<string>): Promise<string[]> {
  const present = new Set<string>();
  for await (const { sha256 } of blobLines(store, manifest)) if (!unsound.has(sha256)) present.add(sha256);
  const missing = new Set<string>();
  const see = (sha256: string) => present.has(sha256) || unsound.has(sha256) || missing.add(sha256);
  for await (const { sha256, isManifest } of namedBlobs(store, manifest.tables)) {
    see(sha256);
    if (!isManifest || !present.has(sha256)) continue;
    for (const file of parseManifest((await store.readAll(sha256)) as Buffer)) see(file.sha256);
  }
  return [...missing].map((sha256) => `the file ${sha256} is missing`);
}

type Named = { sha256: string; isManifest: boolean };

async function* namedBlobs(store: Store, tables: readonly TablePart[]): AsyncGenerator<Named> {
  for (const { table: name, column, property, isManifest = false, isAwaited } of blobColumns) {
    const table = tables.find((one) => one.name === name);
    if (!table || isAwaited) continue;
    for await (const [value] of rowsOf(store, table, [column])) {
      const sha256 = value && property ? JSON.parse(value)[property] : value;
      if (sha256) yield { sha256: sha256.replace(/^\\x/, ''), isManifest };
    }
  }
}

/** Columns with commits. A test compares this list with the schema. */
export const commitColumns = ['source_commit', 'content_commit'] as const;

/** Commits by site and repository. */
async function namedCommits(store: Store, tables: readonly TablePart[]): Promise<Map<string, string[]>> {
  const named = new Map<string, Set<string>>();
  const add = (key: string, commit: string | null) => {
    if (commit !== null) named.set(key, (named.get(key) ?? new Set()).add(commit));
  };
  const deployments = tables.find(({ name }) => name === 'deployment');
  const columns = ['site_id', ...commitColumns, 'expected_heads'];
  for await (const [site, source, content, before] of deployments ? rowsOf(store, deployments, columns) : []) {
    const mains = before ? JSON.parse(before) : {};
    for (const commit of [source, mains.source]) add(`${site} source`, commit ?? null);
    for (const commit of [content, mains.content]) add(`${site} content`, commit ?? null);
  }
  return new Map([...named].map(([key, commits]) => [key, [...commits]]));
}

async function repositoryFaults(
  store: Store,
  part: RepositoryPart,
  commits: string[],
  damaged: string[],
): Promise<string[]> {
  const whose = `the ${part.repository} repository of ${part.siteId}`;
  // A restore does not need this list, but the next backup compares the repository with it.
  if (!(await isSound(store, part.objects))) {
    damaged.push(part.objects.sha256);
    return [`the list of objects in ${whose} is damaged`];
  }
  const dir = await mkdtemp(join(tmpdir(), 'frontage-backup-'));
  try {
    await unpackRepository(store, join(dir, 'checked'), part);
    const missing = await missingCommits(join(dir, 'checked'), commits);
    return missing.map((commit) => `${whose} does not contain the commit ${commit}`);
  } catch {
    for (const pack of part.packs) if (!(await isSound(store, pack))) damaged.push(pack.sha256);
    return [`${whose} is damaged`];
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
