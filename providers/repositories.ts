/** The sites' bare git repositories, `<dir>/<site id>.git` and `<dir>/<site id>.content.git`, used through `git`. */

import { randomUUID } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repository } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import { isId } from '#runtime/ids.ts';
import { type Author, type Change, type NewCommit, writeBlob, writeCommit } from './repositories/commits.ts';
import { readDiff } from './repositories/diffs.ts';
import type { Place } from './repositories/git.ts';
import { sweepMaking } from './repositories/leftovers.ts';
import { openListedTrees } from './repositories/listed-trees.ts';
import { isUntouched, needsRepacking, removeRepository, repack } from './repositories/maintenance.ts';
import { type Merge, type Merged, mergeCommits, moveBranches } from './repositories/merges.ts';
import {
  type Blob,
  type CommitLine,
  hasObject,
  isAncestor,
  readBlobs,
  readCommits,
  type TreeEntry,
} from './repositories/objects.ts';
import { type Made, madeByCall, type Pushed, wasPushed, wasRemoved } from './repositories/pushes.ts';

export type { Author, Blob, Change, CommitLine, Made, Merged, TreeEntry };

/** `main`, or a preview slot's own branch, `preview/<n>`. */
export type Branch = string;

export type BranchMove = {
  repository: Repository;
  branch: Branch;
  from: string | null;
  to: string | null;
  /** By which `wasPushed` finds the move. */
  pushId?: string;
};

export type Repositories = {
  /** Creates both repositories with one commit on `main` each, or empty where `initial` is null. Existing ones stay unchanged. */
  create(
    siteId: string,
    initial: { source: Map<string, Buffer>; content: Map<string, Buffer> } | null,
    author: Author,
    at: Date,
  ): Promise<void>;
  /** The location of the repository, for git itself. Does not check that it exists. */
  place(siteId: string, repository: Repository): Place;
  exists(siteId: string, repository: Repository): Promise<boolean>;
  /** The commit at the tip of a branch; null if there is none. Reads one or two files and starts no process. */
  head(siteId: string, repository: Repository, branch?: Branch): Promise<string | null>;
  /** Whether this push has moved the branch to this commit, wherever the branch is now. False for a removed branch. */
  wasPushed(siteId: string, repository: Repository, branch: Branch, pushed: Pushed): Promise<boolean>;
  /** The commit that this call made on the branch. Null for a removed branch. */
  madeByCall(siteId: string, repository: Repository, branch: Branch, callId: string): Promise<Made | null>;
  /** Whether the branch, which pointed to this commit, was removed; it may exist again. */
  wasRemoved(siteId: string, repository: Repository, branch: Branch, from: string): Promise<boolean>;
  hasCommit(siteId: string, repository: Repository, sha: string): Promise<boolean>;
  hasBlob(siteId: string, repository: Repository, oid: string): Promise<boolean>;
  /** Every file of a commit. Throws `plan_limit` for a commit with more files than any site may have. */
  listTree(siteId: string, repository: Repository, commit: string): Promise<readonly TreeEntry[]>;
  /** Contents in the given order. Each must be read before the next is requested. */
  readBlobs(siteId: string, repository: Repository, oids: readonly string[]): AsyncIterable<Blob>;
  /** Commits in `to` but not in `from` (null: all), newest first. None if `to` or the repository is missing. */
  commits(
    siteId: string,
    repository: Repository,
    range: { from: string | null; to: string; limit: number },
  ): Promise<CommitLine[]>;
  /** Writes a file's bytes and returns their id, for a later commit. They are invisible until then. */
  writeBlob(siteId: string, repository: Repository, content: AsyncIterable<Buffer>): Promise<string>;
  /**
   * Writes one commit on top of `parent` and moves the branch to it. Null if the branch's tip is no longer `parent`.
   * Checks no rules: the caller does.
   */
  commit(
    siteId: string,
    repository: Repository,
    commit: Omit<NewCommit, 'ref'> & { branch?: Branch },
  ): Promise<string | null>;
  /** What a commit changed from its first parent, as a unified diff of at most `max` characters. */
  diff(siteId: string, repository: Repository, commit: string, max: number): Promise<string>;
  /** Whether the history of `commit` contains `ancestor`; a commit contains itself. */
  contains(siteId: string, repository: Repository, commit: string, ancestor: string): Promise<boolean>;
  /** Merges two commits into a third, which is on no branch yet. */
  merge(siteId: string, repository: Repository, merge: Merge): Promise<Merged>;
  /** Moves all these branches of a site, or none: false if one is not at `from`. A null `to` removes the branch. */
  move(siteId: string, moves: readonly BranchMove[]): Promise<boolean>;
  /** Ids of all sites that have a repository here, sorted. */
  siteIds(): Promise<string[]>;
  /** Repacks the repository if it has become slow to read. Returns whether it did. */
  maintain(siteId: string, repository: Repository): Promise<boolean>;
  /** Removes both repositories of an unfinished site if they are a day old and unwritten since; else returns false. */
  removeUntouched(siteId: string): Promise<boolean>;
  /** Removes both repositories of a deleted site. */
  remove(siteId: string): Promise<void>;
};

const untouchedKeptMs = dayMs;

/** Opens the folder of the repositories; the first `create` creates it. */
export function openRepositories(dir: string): Repositories {
  const place = (siteId: string, repository: Repository): Place => ({ dir: join(dir, folderName(siteId, repository)) });
  const trees = openListedTrees();
  return {
    place,
    async create(siteId, initial, author, at) {
      const make = async (repository: Repository) => {
        const target = place(siteId, repository).dir;
        if (!(await isThere(target))) await makeRepository(dir, target, initial?.[repository], author, at);
      };
      await Promise.all([make('source'), make('content')]);
    },
    exists: (siteId, repository) => isThere(place(siteId, repository).dir),
    head: (siteId, repository, branch = 'main') => readRef(place(siteId, repository), refOf(branch)),
    wasPushed: (siteId, repository, branch, pushed) => wasPushed(place(siteId, repository), refOf(branch), pushed),
    madeByCall: (siteId, repository, branch, callId) => madeByCall(place(siteId, repository), refOf(branch), callId),
    wasRemoved: async (siteId, repository, branch, from) => {
      const at = place(siteId, repository);
      return await wasRemoved(at, refOf(branch), { from, head: await readRef(at, refOf(branch)) });
    },
    hasCommit: (siteId, repository, sha) => hasObject(place(siteId, repository), sha, 'commit'),
    hasBlob: (siteId, repository, oid) => hasObject(place(siteId, repository), oid, 'blob'),
    listTree: (siteId, repository, commit) => trees.list(place(siteId, repository), commit),
    readBlobs: (siteId, repository, oids) => readBlobs(place(siteId, repository), oids),
    async commits(siteId, repository, range) {
      const at = place(siteId, repository);
      return (await isThere(at.dir)) ? await readCommits(at, range) : [];
    },
    writeBlob: (siteId, repository, content) => writeBlob(place(siteId, repository), content),
    diff: (siteId, repository, commit, max) => readDiff(place(siteId, repository), commit, max),
    commit: (siteId, repository, { branch = 'main', ...commit }) =>
      writeCommit(place(siteId, repository), { ...commit, ref: refOf(branch) }),
    contains: async (siteId, repository, commit, ancestor) =>
      commit === ancestor || (await isAncestor(place(siteId, repository), ancestor, commit)),
    merge: (siteId, repository, merge) => mergeCommits(place(siteId, repository), merge),
    move: (siteId, moves) =>
      moveBranches(
        moves.map(({ repository, branch, ...move }) => ({
          ...move,
          place: place(siteId, repository),
          ref: refOf(branch),
        })),
      ),
    async siteIds() {
      const names = await readdir(dir).catch((): string[] => []);
      const ids = names.map((name) => name.split('.', 1)[0] ?? '').filter((id) => isId('site', id));
      return [...new Set(ids)].sort();
    },
    async maintain(siteId, repository) {
      const target = place(siteId, repository);
      if (!(await isThere(target.dir)) || !(await needsRepacking(target))) return false;
      await repack(target);
      return true;
    },
    async removeUntouched(siteId) {
      const places = await Promise.all(
        (['source', 'content'] as const).map(async (repository) => {
          const target = place(siteId, repository);
          return (await isThere(target.dir)) ? [target] : [];
        }),
      );
      for (const target of places.flat()) if (!(await isUntouched(target, untouchedKeptMs))) return false;
      for (const target of places.flat()) await removeRepository(target);
      return true;
    },
    async remove(siteId) {
      for (const repository of ['source', 'content'] as const) {
        const at = place(siteId, repository);
        await removeRepository(at);
        trees.forget(at);
      }
    },
  };
}

/** The folder name of a repository. Throws unless `siteId` is a site's id, so that no id becomes another path. */
export function folderName(siteId: string, repository: Repository): string {
  if (!isId('site', siteId)) throw new Error('not a site id');
  return repository === 'source' ? `${siteId}.git` : `${siteId}.content.git`;
}

/** Whether a site can have a branch of this name. */
export function isBranch(name: string): boolean {
  return /^(main|preview\/[1-9][0-9]{0,3})$/.test(name);
}

function refOf(branch: Branch): string {
  if (!isBranch(branch)) throw new Error('not a valid branch of a site');
  return `refs/heads/${branch}`;
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Creates the repository aside, and moves it into place with one rename: a kill leaves no partial repository. */
async function makeRepository(
  dir: string,
  target: string,
  files: Map<string, Buffer> | undefined,
  author: Author,
  at: Date,
): Promise<void> {
  const aside = join(dir, '.making');
  const made = join(aside, randomUUID());
  await mkdir(made, { recursive: true });
  await sweepMaking(aside);
  try {
    await writeEmpty(made);
    if (files) {
      const changes = [...files].map(([path, bytes]) => ({ path, bytes }));
      const commit = { ref: 'refs/heads/main', parent: null, message: 'Start the site', author, at, changes };
      await writeCommit({ dir: made }, commit);
    }
    await rename(made, target);
  } catch (error) {
    await rm(made, { recursive: true, force: true });
    // Another call created the same one first.
    if (!(await isThere(target))) throw error;
  }
}

/** What `git init --bare --template= --initial-branch=main` writes (gitrepository-layout(5)), without a process. */
async function writeEmpty(dir: string): Promise<void> {
  const folders = ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'];
  await Promise.all(folders.map((folder) => mkdir(join(dir, folder), { recursive: true })));
  await writeFile(join(dir, 'config'), '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n');
  await writeFile(join(dir, 'HEAD'), 'ref: refs/heads/main\n');
}

/** Reads a branch from git's files backend: its own file, else its line in `packed-refs`. */
async function readRef(place: Place, ref: string): Promise<string | null> {
  const loose = await readFile(join(place.dir, ref), 'utf8').catch(() => '');
  if (/^[0-9a-f]{40}\n$/.test(loose)) return loose.trim();
  const packed = await readFile(join(place.dir, 'packed-refs'), 'utf8').catch(() => '');
  const line = packed.split('\n').find((text) => text.endsWith(` ${ref}`));
  return line === undefined ? null : line.slice(0, 40);
}
