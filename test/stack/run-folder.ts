/** Folders of one test run, swept by a later run if this one is killed. */
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identify, isRunning, type ProcessId } from '#tools/local/processes.ts';
import { openRunRecords } from '#tools/local/run-records.ts';

const prefix = 'frontage-test-';
const memory = '/dev/shm';
/** What the files of tests that run at the same time may need. */
export const filesBytes = 4 * 1024 ** 3;

/** Where files are in memory, if this machine has so much room there. What lies there may not be executable. */
export function memoryRoot(neededBytes = 512 * 1024 ** 2): string {
  const room = existsSync(memory) ? statfsSync(memory) : undefined;
  return room && room.bavail * room.bsize >= neededBytes ? memory : tmpdir();
}

/** Makes a folder that belongs to this process. Other users may pass through it: PostgreSQL's, the builds'. */
export function makeRunFolder(root = tmpdir()): string {
  const folder = mkdtempSync(join(root, prefix));
  writeFileSync(join(folder, 'owner.json'), JSON.stringify(identify(process.pid)));
  mkdirSync(join(folder, 'run'));
  chmodSync(folder, 0o711);
  return folder;
}

export function removeRunFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Ends what killed runs left: their recorded processes, then their folders. Runs that go on are not touched. */
export async function sweepRunFolders(): Promise<void> {
  for (const root of [memory, tmpdir()].filter((path) => existsSync(path))) {
    for (const name of readdirSync(root).filter((one) => one.startsWith(prefix))) {
      const folder = join(root, name);
      const owner = ownerOf(folder);
      if (!owner || isRunning(owner)) continue;
      try {
        for (const run of globSync('{run,*/run}', { cwd: folder }))
          await openRunRecords(join(folder, run)).stopLeftovers();
        removeRunFolder(folder);
      } catch (error) {
        // A mount of a killed engine, or another user's. It must not keep this run from starting, and the next sweep tries again.
        console.warn(`A killed run's folder stays: ${folder} (${(error as NodeJS.ErrnoException).code || 'busy'}).`);
      }
    }
  }
}

function ownerOf(folder: string): ProcessId | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'owner.json'), 'utf8'));
  } catch {
    return undefined;
  }
}
