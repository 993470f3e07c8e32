/** The files of the project, for tests that read the source itself. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);

/** Paths from the root: what git tracks, and new files that it does not ignore. */
export const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));

export const text = (file: string) => readFileSync(join(root, file), 'utf8');
