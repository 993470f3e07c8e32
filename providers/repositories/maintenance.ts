/** Keeps a repository fast to read: many loose objects and packs become one pack. Loses no object, reachable or not. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Place, runGit } from './git.ts';
import { fileSystemTime, sweepRepository } from './leftovers.ts';

const loosePerFolderMax = 8;
const packsMax = 20;

/** Whether there is so much to look through that it costs. One of the 256 folders of loose objects stands for all, as in git's own gc. */
export async function needsRepacking(place: Place): Promise<boolean> {
  const loose = await readdir(join(place.dir, 'objects/17')).catch((): string[] => []);
  return loose.length > loosePerFolderMax || (await packCount(place)) > packsMax;
}

async function packCount(place: Place): Promise<number> {
  const names = await readdir(join(place.dir, 'objects/pack')).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.pack')).length;
}

/**
 * Packs everything anew. Packs are removed only when all they hold is in the new one, and objects that no branch reaches are kept: an
 * earlier deployment may have been built from them, and a push that runs may be about to name them.
 */
export async function repack(place: Place): Promise<void> {
  await sweepRepository(place.dir);
  const args = ['repack', '-a', '-d', '--keep-unreachable', '--quiet', '--no-write-bitmap-index'];
  // git packs loose objects that no branch reaches only where there is a pack already.
  if ((await packCount(place)) === 0) await runGit(place, args);
  await runGit(place, args);
  await runGit(place, ['pack-refs', '--all']);
}

/** Whether nothing was ever written to the repository since it was made, longer than `keptMs` ago. */
export async function isUntouched(place: Place, keptMs: number): Promise<boolean> {
  const { stdout } = await runGit(place, ['rev-list', '--all', '--max-count=2', '--count']);
  if (Number(stdout.toString()) > 1) return false;
  const { mtimeMs } = await stat(join(place.dir, 'config'));
  return mtimeMs < (await fileSystemTime(place.dir)) - keptMs;
}

/** Removes a repository for good. */
export async function removeRepository(place: Place): Promise<void> {
  await rm(place.dir, { recursive: true, force: true });
}
