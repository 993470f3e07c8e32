/** Bytes under callers' names in one folder, and the sweep that keeps it small. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { keptName } from './blob-names.ts';
import type { NamedBytes } from './store.ts';

export function createNamedFiles(folder: string, writeAside: (content: Readable) => Promise<string>): NamedBytes {
  const pathOf = (name: string) => join(folder, keptName(name));
  return {
    async put(name, content) {
      const path = pathOf(name);
      await mkdir(folder, { recursive: true });
      await rename(await writeAside(content), path);
    },
    async read(name) {
      const file = await open(pathOf(name)).catch(missing);
      return file?.createReadStream();
    },
    remove: (name) => rm(pathOf(name), { force: true }),
  };
}

/** Removes files that were neither written nor read for `ageMs`, by the file system's own clock. Returns how many. */
export async function sweepFolder(folder: string, ageMs: number): Promise<number> {
  const names = await readdir(folder).catch(missing);
  if (!names?.length) return 0;
  const probe = join(folder, randomUUID());
  await writeFile(probe, '');
  const { mtimeMs: now } = await stat(probe);
  await rm(probe);
  let removed = 0;
  for (const name of names) {
    const found = await stat(join(folder, name)).catch(missing);
    if (!found || now - Math.max(found.mtimeMs, found.atimeMs) <= ageMs) continue;
    await rm(join(folder, name), { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
