/** What is made aside, renamed into place and kept by version in one folder: which versions stay, and what killed makers left. */
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from './clock.ts';

const abandonedAfterMs = 3_600_000;

/**
 * Marks `inUse`, a file or folder in `folder`, as the version used last. Of the others whose name is a version's, the one used before it stays,
 * for a process that is being replaced may still work with it, also after a step back; the rest is removed. Several processes may do so at once.
 */
export async function keepInUse(folder: string, isVersion: RegExp, inUse: string): Promise<void> {
  const now = systemClock.now();
  await utimes(join(folder, inUse), now, now);
  const names = (await readdir(folder)).filter((name) => isVersion.test(name) && name !== inUse);
  const used = await Promise.all(names.map(async (name) => ({ name, at: await usedAt(join(folder, name)) })));
  for (const { name } of used.sort((a, b) => b.at - a.at).slice(1))
    await rm(join(folder, name), { recursive: true, force: true });
}

/** Removes what makers left that were killed an hour ago or earlier: each made its own under a name that begins so. */
export async function removeAbandoned(folder: string, prefix: string): Promise<void> {
  const before = systemClock.now().getTime() - abandonedAfterMs;
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (name.startsWith(prefix) && (await usedAt(path)) < before) await rm(path, { recursive: true, force: true });
  }
}

/** Milliseconds since 1970; what another process has removed meanwhile was never used. */
async function usedAt(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
}
