/**
 * Records of the processes of a data folder, so that the next start stops what a SIGKILL left running, and nothing
 * else.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endProcess, isRunning, type ProcessId } from './processes.ts';

export type RunRecord = ProcessId & { name: string; stopSignal: NodeJS.Signals };

export type RunRecords = {
  add(record: RunRecord): void;
  remove(name: string): void;
  /** Stops every recorded process that still runs, all in parallel. Returns their names. */
  stopLeftovers(): Promise<string[]>;
};

/** Records are files `<folder>/<name>.json`. */
export function openRunRecords(folder: string): RunRecords {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (name: string) => join(folder, `${name}.json`);
  return {
    // Synchronous: we must not be killed between the start of a process and its record.
    add(record) {
      writeFileSync(`${file(record.name)}.new`, JSON.stringify(record));
      renameSync(`${file(record.name)}.new`, file(record.name));
    },
    remove: (name) => rmSync(file(name), { force: true }),
    async stopLeftovers() {
      const leftovers = read(folder).filter(isRunning);
      await Promise.all(leftovers.map((one) => endProcess(one, one.stopSignal, 10_000)));
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true });
      return leftovers.map((one) => one.name);
    },
  };
}

function read(folder: string): RunRecord[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      try {
        return [JSON.parse(readFileSync(join(folder, name), 'utf8')) as RunRecord];
      } catch {
        return [];
      }
    });
}
