/** One process per data folder. The kernel releases the lock when its holder dies. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UserError } from './user-error.ts';

/** Locks the folder, or throws one line that names the holder. Node has no flock(2); SQLite's lock replaces it. */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const holder = join(folder, 'holder');
  const database = new DatabaseSync(join(folder, 'lock.sqlite'));
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new UserError(
      `${folder} is in use by ${readHolder(holder)}. Stop that process, or set FRONTAGE_DATA to a different folder.`,
      {
        cause,
      },
    );
  }
  writeFileSync(holder, `process ${process.pid}`);
  return { release: () => (database.isOpen ? database.close() : undefined) };
}

function readHolder(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return 'another process';
  }
}
