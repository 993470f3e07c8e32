/**
 * Removes backups from a repository, and then every part that no backup there uses. Names are removed first: if the
 * process is killed, unused parts stay, and the next removal deletes them.
 */
import { blobLines, repositoryLines } from './check.ts';
import { BackupFault } from './fault.ts';
import { type Lock, withLock } from './locks.ts';
import { readManifest } from './manifest.ts';
import type { BackupRepository } from './repository.ts';

export type Removed = {
  removed: string[];
  /** Requested names that do not exist. */
  absent: string[];
  left: number;
  parts: number;
  bytes: number;
  /** Remaining backups whose lists cannot be read. While there are any, no part is deleted. */
  unread: string[];
};

const atOnce = 64;

/** `choose` receives all names, oldest first. Throws BackupFault while a backup is being created or removed there. */
export async function removeBackups(
  repository: BackupRepository,
  choose: (names: string[]) => string[],
): Promise<Removed> {
  if (await isEmpty(repository)) throw new BackupFault('There is no backup here.');
  return await withLock(repository, 'remove', async (lock) => {
    if (await lock.othersHold('create', 'remove')) throw busy();
    const names = await repository.names();
    const asked = choose(names);
    const [removed, left] = [
      names.filter((name) => asked.includes(name)),
      names.filter((name) => !asked.includes(name)),
    ];
    const absent = asked.filter((name) => !names.includes(name));
    const { parts: named, unread } = await namedParts(repository, left);
    for (const name of removed) await repository.forget(name);
    const dropped = unread.length > 0 ? { parts: 0, bytes: 0 } : await dropAllBut(repository, named, lock);
    return { removed, absent, left: left.length, ...dropped, unread };
  });
}

const busy = () =>
  new BackupFault(
    'Another process is creating or removing a backup here. Run the command again later. If a process was killed, its lock expires after 15 minutes.',
  );

/** Guards against a misspelt destination. A repository without names may be the rest of a killed removal. */
async function isEmpty(repository: BackupRepository): Promise<boolean> {
  if ((await repository.names()).length > 0) return false;
  for await (const _part of repository.store.list()) return false;
  return true;
}

async function namedParts(
  repository: BackupRepository,
  names: readonly string[],
): Promise<{ parts: Set<string>; unread: string[] }> {
  const parts = new Set<string>();
  const unread: string[] = [];
  for (const name of names) {
    try {
      for await (const sha256 of partsOf(repository, name)) parts.add(sha256);
    } catch (error) {
      if (!(error instanceof BackupFault)) throw error;
      unread.push(name);
    }
  }
  return { parts, unread };
}

/** Hashes of all parts of the backup. Throws BackupFault if one of its lists is damaged. */
async function* partsOf(repository: BackupRepository, name: string): AsyncGenerator<string> {
  yield (await repository.read(name)) ?? '';
  const manifest = await readManifest(repository, name);
  for (const { sha256 } of [...manifest.tables, manifest.repositories, manifest.blobs]) yield sha256;
  for await (const { objects, packs } of repositoryLines(repository.store, manifest))
    for (const { sha256 } of [objects, ...packs]) yield sha256;
  for await (const { sha256 } of blobLines(repository.store, manifest)) yield sha256;
}

async function dropAllBut(
  repository: BackupRepository,
  named: ReadonlySet<string>,
  lock: Lock,
): Promise<{ parts: number; bytes: number }> {
  const dropped = { parts: 0, bytes: 0 };
  let batch: string[] = [];
  const drop = async () => {
    await lock.requireHeld();
    await Promise.all(batch.map((sha256) => repository.drop(sha256)));
    batch = [];
  };
  for await (const { sha256, bytes } of repository.store.list()) {
    if (named.has(sha256)) continue;
    dropped.parts += 1;
    dropped.bytes += bytes;
    batch.push(sha256);
    if (batch.length >= atOnce) await drop();
  }
  if (batch.length > 0) await drop();
  return dropped;
}
