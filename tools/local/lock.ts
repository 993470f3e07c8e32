/** One holder of a data folder at a time. The lock is the kernel's: it ends with its holder, however that dies. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Problem } from './problem.ts';

/** Takes the folder or throws one line that says who has it. Node has no flock(2); SQLite's lock is one. */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const holder = join(folder, 'holder');
  const database = new DatabaseSync(join(folder, 'lock.sqlite'));
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    database.close();
    throw new Problem(
      `${folder} is in use by ${readHolder(holder)}: stop it, or set FRONTAGE_DATA to another folder.`,
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
