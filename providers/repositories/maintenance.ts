/** Keeps a repository fast to read by packing it into one pack. Loses no object, reachable or not. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { maintenanceLimits, type Place, runGit } from './git.ts';
import { fileSystemTime, sweepRepository } from './leftovers.ts';

const loosePerFolderMax = 8;
const packsMax = 20;

/** Whether many objects or packs make reads slow. Samples one of 256 folders of loose objects, as git's own gc does. */
export async function needsRepacking(place: Place): Promise<boolean> {
  const loose = await readdir(join(place.dir, 'objects/17')).catch((): string[] => []);
  return loose.length > loosePerFolderMax || (await packCount(place)) > packsMax;
}

async function packCount(place: Place): Promise<number> {
  const names = await readdir(join(place.dir, 'objects/pack')).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.pack')).length;
}

/**
 * Repacks everything. Old packs are removed only when the new one contains all their objects. Unreachable objects are
 * kept: an earlier deployment may have been built from them, and a running push may be about to refer to them.
 */
export async function repack(place: Place): Promise<void> {
  await sweepRepository(place.dir);
  const slow = { ...place, limits: maintenanceLimits };
  const args = ['repack', '-a', '-d', '--keep-unreachable', '--quiet', '--no-write-bitmap-index'];
  // git packs unreachable loose objects only if there is a pack already.
  if ((await packCount(place)) === 0) await runGit(slow, args);
  await runGit(slow, args);
  await runGit(place, ['pack-refs', '--all']);
  // A push is in the history within an hour.
  await runGit(slow, ['reflog', 'expire', '--all', '--expire=1.week.ago', '--expire-unreachable=1.week.ago']);
}

/** Whether the repository was created longer than `keptMs` ago and never written to since. */
export async function isUntouched(place: Place, keptMs: number): Promise<boolean> {
  const { stdout } = await runGit(place, ['rev-list', '--all', '--max-count=2', '--count']);
  if (Number(stdout.toString()) > 1) return false;
  const { mtimeMs } = await stat(join(place.dir, 'config'));
  return mtimeMs < (await fileSystemTime(place.dir)) - keptMs;
}

export async function removeRepository(place: Place): Promise<void> {
  await rm(place.dir, { recursive: true, force: true });
}
