/** What a data folder keeps besides the databases: logs, the last run's beside this one's, and the installation's secret. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Turns the logs over and answers where each name writes: `<data>/logs/<name>.log`, the one before in `<name>.1.log`. */
export function openLogs(dataDir: string): (name: string) => string {
  const folder = join(dataDir, 'logs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const turned = new Set<string>();
  return (name) => {
    const file = join(folder, `${name}.log`);
    if (!turned.has(name) && existsSync(file)) renameSync(file, join(folder, `${name}.1.log`));
    turned.add(name);
    return file;
  };
}

/** A text that is made once and kept for this owner's eyes alone. */
export function keep(dataDir: string, name: string, make: () => string): string {
  const file = join(dataDir, name);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const text = make();
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return text;
}

export const newSecret = () => randomBytes(32).toString('hex');
