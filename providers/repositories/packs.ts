/** Branches and objects of a whole repository, for backups and exports. */
import type { Readable } from 'node:stream';
import { failure, maintenanceLimits, type Place, runGit, spawnGit } from './git.ts';

/** Commits by the full name of their branch. */
export type Refs = Record<string, string>;

export async function readRefs(git: Place): Promise<Refs> {
  const format = '--format=%(refname) %(objectname) %(symref)';
  const { stdout } = await runGit(git, ['for-each-ref', format, 'refs/heads']);
  const lines = stdout.toString().split('\n').filter(Boolean);
  const refs = lines.map((line) => line.split(' ') as [string, string, string]);
  // A symbolic ref is a name for a branch that is in the list itself.
  return Object.fromEntries(refs.filter(([, , target]) => target === '').map(([ref, oid]) => [ref, oid]));
}

/** Passes every object of the repository to `take`, as one pack. */
export async function packAll<T>(git: Place, take: (pack: Readable) => Promise<T>): Promise<T> {
  return await packObjects(git, (await objectIds(git)).toString('latin1').split('\n').filter(Boolean), take);
}

/** Ids of all objects, also of unreachable ones: a line each. */
export async function objectIds(git: Place): Promise<Buffer> {
  return (
    await runGit({ ...git, limits: maintenanceLimits }, [
      'cat-file',
      '--batch-all-objects',
      '--batch-check=%(objectname)',
    ])
  ).stdout;
}

/** Passes these objects to `take`, as one pack. */
export async function packObjects<T>(
  git: Place,
  ids: readonly string[],
  take: (pack: Readable) => Promise<T>,
): Promise<T> {
  // Reuses existing deltas; computing new ones would take CPU time from requests.
  const child = await spawnGit({ ...git, limits: maintenanceLimits }, [
    'pack-objects',
    '--stdout',
    '--quiet',
    '--window=0',
  ]);
  const taking = take(child.stdout);
  taking.catch(() => {});
  child.stdin.end(ids.map((id) => `${id}\n`).join(''));
  const [taken, ended] = await Promise.all([taking, child.exited]);
  if (ended.status !== 0) throw failure('pack-objects', ended);
  return taken;
}
