/** One process per data folder. The kernel releases the lock when its holder dies. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UserError } from './user-error.ts';

/** SQLITE_BUSY. */
const busy = 5;

/** Locks the folder, or throws one line that names the holder. Node has no flock(2); SQLite's lock replaces it. */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const holder = join(folder, 'holder');
  const file = join(folder, 'lock.sqlite');
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    const isHeld = (cause as { errcode?: number }).errcode === busy;
    const reason = isHeld
      ? `${folder} is in use by ${readHolder(holder)}. Stop that process`
      : `${file} cannot be locked (${(cause as Error).message}). Check its disk and its permissions`;
    throw new UserError(`${reason}, or set FRONTAGE_DATA to a different folder.`, { cause });
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
