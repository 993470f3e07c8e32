/** Makes versions in a folder of versioned files; removes old ones, and the leftovers of killed processes. */
import { access, mkdir, mkdtemp, readdir, realpath, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { hourMs } from '#rules/time.ts';
import { systemClock } from './clock.ts';

const unfinished = '.making-';

/**
 * Returns the path of the folder `name` in `folder`. If it is missing, `fill` gets another folder, which is renamed when it is complete, so a
 * killed process leaves no incomplete version. Of two concurrent ones, the later is discarded.
 */
export async function makeVersion(
  folder: string,
  name: string,
  fill: (aside: string) => Promise<void>,
): Promise<string> {
  const path = join(folder, name);
  if (await exists(path)) return path;
  await mkdir(folder, { recursive: true });
  await removeAbandoned(folder, unfinished);
  // npm refuses a prefix that leads through a symbolic link.
  const aside = await realpath(await mkdtemp(join(folder, unfinished)));
  try {
    await fill(aside);
    await rename(aside, path).catch(async (error) => {
      if (!(await exists(path))) throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return path;
}

/**
 * Marks `inUse`, a file or folder in `folder`, as the version used last. The version used before it stays, because a process that is being
 * replaced may still read it, also after a rollback. All others are removed. Several processes may run this at once.
 */
export async function pruneVersions(folder: string, isVersion: RegExp, inUse: string): Promise<void> {
  const now = systemClock.now();
  await utimes(join(folder, inUse), now, now);
  const names = (await readdir(folder)).filter((name) => isVersion.test(name) && name !== inUse);
  const used = await Promise.all(names.map(async (name) => ({ name, at: await usedAt(join(folder, name)) })));
  for (const { name } of used.sort((a, b) => b.at - a.at).slice(1))
    await rm(join(folder, name), { recursive: true, force: true });
}

/** Removes temporary files and folders with this prefix whose process was killed an hour ago or earlier. */
export async function removeAbandoned(folder: string, prefix: string): Promise<void> {
  const before = systemClock.now().getTime() - hourMs;
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (name.startsWith(prefix) && (await usedAt(path)) < before) await rm(path, { recursive: true, force: true });
  }
}

/** Milliseconds since 1970; 0 if another process has removed it meanwhile. */
async function usedAt(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
