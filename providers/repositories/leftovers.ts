/** Removes leftovers of killed processes, by their age on the file system's own clock. */
import { mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hourMs, minuteMs } from '#rules/time.ts';

/** Removes leftovers from a repository: quarantines of pushes, and locks that would block every later push. */
export async function sweepRepository(dir: string): Promise<void> {
  await sweep(join(dir, 'objects'), /^tmp_objdir-/, hourMs);
  await sweep(join(dir, 'objects/pack'), /^(\.tmp-|tmp_)/, hourMs);
  // git holds a lock for milliseconds.
  for (const folder of ['', 'refs/heads', 'refs/heads/preview']) await sweep(join(dir, folder), /\.lock$/, minuteMs);
}

/** Removes leftovers from the folder where repositories are created. */
export async function sweepMaking(dir: string): Promise<void> {
  await sweep(dir, /^[^.]/, hourMs);
}

async function sweep(dir: string, pattern: RegExp, keptMs: number): Promise<void> {
  const names = (await readdir(dir).catch(() => [])).filter((name) => pattern.test(name));
  if (names.length === 0) return;
  const now = await fileSystemTime(dir);
  for (const name of names) {
    const path = join(dir, name);
    const found = await stat(path).catch(() => undefined);
    if (found && found.mtimeMs < now - keptMs) await rm(path, { recursive: true, force: true });
  }
}

/** Milliseconds. The files may be on another machine with another clock. */
export async function fileSystemTime(dir: string): Promise<number> {
  const probe = await mkdtemp(join(dir, '.time-'));
  const { mtimeMs } = await stat(probe);
  await rmdir(probe);
  return mtimeMs;
}
