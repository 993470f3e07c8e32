/** Files of a data folder besides the databases: logs of this run and the last, and the installation's secret. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders that another user passes through: the database's, and the one whose images builds read. Neither can be listed. */
const passable = ['postgres', 'sandbox'];
const others = ['repositories', 'store', 'edge', 'incoming', 'cache', 'temporal', 'logs', 'run'];

/** Creates the data folder and its parts, so that other users of this machine read nothing in it, whatever is inside them. */
export function protectDataFolder(dataDir: string): void {
  for (const name of ['', ...passable, ...others]) mkdirSync(join(dataDir, name), { recursive: true });
  chmodSync(dataDir, 0o711);
  for (const item of readdirSync(dataDir, { withFileTypes: true })) {
    if (item.isDirectory()) chmodSync(join(dataDir, item.name), passable.includes(item.name) ? 0o711 : 0o700);
    else if (item.isFile()) chmodSync(join(dataDir, item.name), 0o600);
  }
}

/** Rotates the logs. Returns the file for each name: `<data>/logs/<name>.log`; the previous run's is `<name>.1.log`. */
export function openLogs(dataDir: string): (name: string) => string {
  const folder = join(dataDir, 'logs');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const rotated = new Set<string>();
  return (name) => {
    const file = join(folder, `${name}.log`);
    if (!rotated.has(name) && existsSync(file)) renameSync(file, join(folder, `${name}.1.log`));
    rotated.add(name);
    return file;
  };
}

/** Reads a text file; creates it the first time, readable only by its owner. */
export function readOrCreate(dataDir: string, name: string, make: () => string): string {
  const file = join(dataDir, name);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const text = make();
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return text;
}

export const newSecret = () => randomBytes(32).toString('hex');
