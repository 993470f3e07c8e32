/** The record of what the tests of a run see of the product (test/coverage/record.mjs). */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const coverage = join(import.meta.dirname, '../../test/coverage');

/** The environment in which every process of a run notes in this new folder what it sees. */
export function recording(folder: string): Record<string, string> {
  mkdirSync(folder);
  const recorder = pathToFileURL(join(coverage, 'record.mjs'));
  recorder.searchParams.set('folder', folder);
  return { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${recorder.href}` };
}

/** What the product declares and is not in the record. */
export function readUnseen(folder: string): string[] {
  const command = [join(coverage, 'unseen.ts'), folder];
  const { status, stdout } = spawnSync(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  return status === 0 ? JSON.parse(stdout.toString()) : ['anything: test/coverage/unseen.ts failed'];
}
