/** The folder of one test run: in memory where the machine has room there, swept by a later run if this one is killed. */
import {
  existsSync,
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
import { identify, isRunning, type ProcessId } from '../../local/processes.ts';
import { openRunRecords } from '../../local/run-records.ts';

const prefix = 'frontage-test-';
const memory = '/dev/shm';
const neededBytes = 512 * 1024 * 1024;

function roots(): string[] {
  const root = existsSync(memory) ? statfsSync(memory) : undefined;
  return root && root.bavail * root.bsize >= neededBytes ? [memory, tmpdir()] : [tmpdir()];
}

/** Makes a folder that belongs to this process. */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(roots()[0] as string, prefix));
  writeFileSync(join(folder, 'owner.json'), JSON.stringify(identify(process.pid)));
  mkdirSync(join(folder, 'run'));
  return folder;
}

/** Ends what killed runs left: their recorded processes, then their folders. Runs that go on are not touched. */
export async function sweepRunFolders(): Promise<void> {
  for (const root of roots()) {
    for (const name of readdirSync(root).filter((one) => one.startsWith(prefix))) {
      const folder = join(root, name);
      const owner = ownerOf(folder);
      if (!owner || isRunning(owner)) continue;
      await openRunRecords(join(folder, 'run')).endLeftovers();
      rmSync(folder, { recursive: true, force: true });
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
