/**
 * Removes backups from a place, and then every part that no backup there names. Names go first: what is killed half-way leaves parts that nobody
 * names, and the same command, or the next one, removes those.
 */
import { blobLines, repositoryLines } from './check.ts';
import { BackupFault } from './fault.ts';
import { type Mark, whileMarked } from './locks.ts';
import { readManifest } from './manifest.ts';
import type { Place } from './repository.ts';

export type Removed = {
  removed: string[];
  /** Names that were asked for and are not here. */
  absent: string[];
  left: number;
  parts: number;
  bytes: number;
  /** Why parts that nobody names may have stayed: a backup that is left does not say any more what it is made of. */
  unread: string[];
};

const atOnce = 64;

/** `choose` is given all names, the oldest first. Throws BackupFault where a backup is being written or removed there. */
export async function removeBackups(place: Place, choose: (names: string[]) => string[]): Promise<Removed> {
  if (await isNoPlace(place)) throw new BackupFault('There is no backup here.');
  return await whileMarked(place, 'remove', async (mark) => {
    if (await mark.meets('create', 'remove')) throw busy();
    const names = await place.names();
    const asked = choose(names);
    const [removed, left] = [
      names.filter((name) => asked.includes(name)),
      names.filter((name) => !asked.includes(name)),
    ];
    const absent = asked.filter((name) => !names.includes(name));
    const { parts: named, unread } = await namedParts(place, left);
    for (const name of removed) await place.forget(name);
    const dropped = unread.length > 0 ? { parts: 0, bytes: 0 } : await dropAllBut(place, named, mark);
    return { removed, absent, left: left.length, ...dropped, unread };
  });
}

const busy = () =>
  new BackupFault(
    'A backup is being written or removed here at this moment: run this again when that has ended. One that was killed is passed over after 15 minutes.',
  );

/** A word misspelt makes no place. What is left of a removal that was killed is one. */
async function isNoPlace(place: Place): Promise<boolean> {
  if ((await place.names()).length > 0) return false;
  for await (const _part of place.store.list()) return false;
  return true;
}

async function namedParts(place: Place, names: readonly string[]): Promise<{ parts: Set<string>; unread: string[] }> {
  const parts = new Set<string>();
  const unread: string[] = [];
  for (const name of names) {
    try {
      for await (const sha256 of partsOf(place, name)) parts.add(sha256);
    } catch (error) {
      if (!(error instanceof BackupFault)) throw error;
      unread.push(name);
    }
  }
  return { parts, unread };
}

/** Hashes of all that the backup is made of. Throws BackupFault where one of its lists is damaged. */
async function* partsOf(place: Place, name: string): AsyncGenerator<string> {
  yield (await place.read(name)) ?? '';
  const manifest = await readManifest(place, name);
  for (const { sha256 } of [...manifest.tables, manifest.repositories, manifest.blobs]) yield sha256;
  for await (const { objects, packs } of repositoryLines(place.store, manifest))
    for (const { sha256 } of [objects, ...packs]) yield sha256;
  for await (const { sha256 } of blobLines(place.store, manifest)) yield sha256;
}

async function dropAllBut(
  place: Place,
  named: ReadonlySet<string>,
  mark: Mark,
): Promise<{ parts: number; bytes: number }> {
  const dropped = { parts: 0, bytes: 0 };
  let batch: string[] = [];
  const drop = async () => {
    await mark.requireHeld();
    await Promise.all(batch.map((sha256) => place.drop(sha256)));
    batch = [];
  };
  for await (const { sha256, bytes } of place.store.list()) {
    if (named.has(sha256)) continue;
    dropped.parts += 1;
    dropped.bytes += bytes;
    batch.push(sha256);
    if (batch.length >= atOnce) await drop();
  }
  if (batch.length > 0) await drop();
  return dropped;
}
