/** Removes what killed processes have left, by its age on the file system's own clock. */
import { mkdtemp, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hourMs, minuteMs } from '#rules/time.ts';

/** Removes what a killed process left in a repository: quarantines of pushes, and locks that would keep every later push out. */
export async function sweepRepository(dir: string): Promise<void> {
  await sweep(join(dir, 'objects'), /^tmp_objdir-/, hourMs);
  await sweep(join(dir, 'objects/pack'), /^(\.tmp-|tmp_)/, hourMs);
  // git holds one for milliseconds.
  for (const folder of ['', 'refs/heads', 'refs/heads/preview']) await sweep(join(dir, folder), /\.lock$/, minuteMs);
}

/** Removes what is in the folder where repositories are made and was left there. */
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

/** Milliseconds. The machine that keeps the files may be another one, with another time of day. */
export async function fileSystemTime(dir: string): Promise<number> {
  const probe = await mkdtemp(join(dir, '.time-'));
  const { mtimeMs } = await stat(probe);
  await rmdir(probe);
  return mtimeMs;
}
