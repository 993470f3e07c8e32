/** A git repository in a backup: packs with all of its objects, including unreachable ones, and its branches. */
import { mkdir } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import {
  failure,
  finish,
  type Place as GitPlace,
  maintenanceLimits,
  runGit,
  spawnGit,
} from '#providers/repositories/git.ts';
import { objectIds, packObjects, type Refs, readRefs } from '#providers/repositories/packs.ts';
import type { Store } from '#providers/store/store.ts';
import type { Repository } from '#rules/states.ts';
import { isSound, type Part, putGzipped, type RepositoryPart, readLines, readPart } from './manifest.ts';

/** A restore unpacks each pack separately: above this number the repository is packed again. */
const packsMax = 24;

type Asked = { siteId: string; repository: Repository };

/** Maximum number of reads of moving branches. */
const readingsMax = 50;

/**
 * A consistent view of the branches of both repositories of a site: two consecutive reads of both must agree, because a
 * publish moves branches of both.
 */
export async function readTogether(
  places: readonly GitPlace[],
  read: (git: GitPlace) => Promise<Refs> = readRefs,
): Promise<Refs[]> {
  const readAll = async () => {
    const refs: Refs[] = [];
    for (const git of places) refs.push(await read(git));
    return refs;
  };
  let last = await readAll();
  for (let count = 1; count < readingsMax; count++) {
    const again = await readAll();
    if (isDeepStrictEqual(last, again)) break;
    last = again;
  }
  return last;
}

/**
 * Writes the objects that `before`, the same repository in an earlier backup, lacks. Branches are read before objects,
 * so all reachable objects are included. Objects are never removed, and git finds one that is repacked meanwhile.
 */
export async function packRepository(
  store: Store,
  git: GitPlace,
  asked: Asked & { refs: Refs },
  before: RepositoryPart | undefined,
): Promise<RepositoryPart> {
  const ids = await objectIds(git);
  const objects = await putGzipped(store, Readable.from([ids]));
  const part = { ...asked, objects };
  if (before?.objects.sha256 === objects.sha256) return { ...part, packs: before.packs };
  const isUseful = before && before.packs.length < packsMax && (await isSound(store, before.objects));
  const known = isUseful ? await idsOf(store, before.objects) : new Set<string>();
  const all = ids.toString('latin1').split('\n').filter(Boolean);
  const fresh = all.filter((id) => !known.has(id));
  // If an earlier object is gone, the repository was replaced: then all of it is packed.
  const isMore = known.size > 0 && all.length - fresh.length === known.size;
  const pack = await putPack(store, git, isMore ? fresh : all);
  return { ...part, packs: isMore ? [...(before?.packs ?? []), pack] : [pack] };
}

async function idsOf(store: Store, objects: Part): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const id of readLines(store, objects)) if (id) ids.add(id);
  return ids;
}

async function putPack(store: Store, git: GitPlace, ids: readonly string[]): Promise<Part> {
  const { sha256, bytes } = await packObjects(git, ids, (content) => store.put(content));
  return { sha256, bytes };
}

/** Creates the repository in a new folder. git verifies the hash of every object. */
export async function unpackRepository(store: Store, dir: string, { packs, refs }: RepositoryPart): Promise<void> {
  await unpack(
    dir,
    packs.map((pack) => readPart(store, pack)),
  );
  await writeRefs(dir, refs);
}

/**
 * Creates a repository from these packs, without branches. Throws for an invalid pack. `more` are options for
 * index-pack(1).
 */
export async function unpack(dir: string, packs: Iterable<AsyncIterable<Buffer>>, more: string[] = []): Promise<void> {
  await mkdir(dir, { recursive: true });
  await runGit({ dir }, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', dir]);
  for (const pack of packs) {
    const child = await spawnGit({ dir, limits: maintenanceLimits }, ['index-pack', '--stdin', ...more]);
    const ended = await finish(child, pack);
    if (ended.status !== 0) throw failure('index-pack', ended);
  }
}

export async function writeRefs(dir: string, refs: Refs): Promise<void> {
  const lines = Object.entries(refs).map(([ref, id]) => `create ${ref} ${id}\n`);
  await runGit({ dir }, ['update-ref', '--stdin'], { input: lines });
}

/** Those of these commits, and of the branch tips, that are missing or incomplete. */
export async function missingCommits(dir: string, commits: readonly string[]): Promise<string[]> {
  const isThere = async (ids: readonly string[]) => {
    const args = ['rev-list', '--objects', '--quiet', '--all', '--stdin'];
    const { status } = await runGit({ dir, limits: maintenanceLimits }, args, {
      input: [ids.map((id) => `${id}\n`).join('')],
      accept: [0, 128],
    });
    return status === 0;
  };
  if (await isThere(commits)) return [];
  const missing: string[] = [];
  for (const id of commits) if (!(await isThere([id]))) missing.push(id);
  return missing.length > 0 ? missing : ['a branch'];
}
