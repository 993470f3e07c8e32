/** The stub's state in one file, so that payments survive a restart. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { StoredObject } from './state.ts';

export function readObjects(file: string | undefined): Map<string, StoredObject> {
  const known: StoredObject[] = file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  return new Map(known.map((kept) => [kept.id, kept]));
}

export function writeObjects(file: string, objects: ReadonlyMap<string, StoredObject>): void {
  writeFileSync(`${file}.part`, JSON.stringify([...objects.values()]), { mode: 0o600 });
  renameSync(`${file}.part`, file);
}
