/** Files of a data folder besides the databases: logs of this run and the last, and the installation's secret. */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { UserError } from './user-error.ts';

/** Folders that another user passes through: the database's, and the one whose images builds read. Neither can be listed. */
const passable = ['postgres', 'sandbox'];
const others = ['repositories', 'store', 'edge', 'incoming', 'cache', 'temporal', 'logs', 'run'];

/** The system's own folder on a new disk. */
const ofDisk = 'lost+found';

/** What may be in a folder before it has a secret: the above, what a killed first start left, and what a new disk has. */
const expected = [
  ...passable,
  ...others,
  'lock.sqlite',
  'holder',
  'ports.json',
  'ports.json.new',
  'secret.new',
  ofDisk,
];

/** Creates the data folder and its parts, so that other users of this machine read nothing in it. Throws `UserError`. */
export function protectDataFolder(dataDir: string): void {
  try {
    protect(dataDir);
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `The data folder cannot be used (${(cause as Error).message}). Set FRONTAGE_DATA to a folder that you may write to.`,
      { cause },
    );
  }
}

function protect(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true });
  const present = readdirSync(dataDir);
  const foreign = present.find((name) => !name.startsWith('.') && !expected.includes(name));
  // In a home or system folder, the modes below would do harm.
  if (foreign && !present.includes('secret') && basename(dataDir) !== '.frontage')
    throw new UserError(`${dataDir} contains other files (${foreign}). Set FRONTAGE_DATA to a new or empty folder.`);
  for (const name of ['', ...passable, ...others]) mkdirSync(join(dataDir, name), { recursive: true });
  chmodSync(dataDir, 0o711);
  for (const item of readdirSync(dataDir, { withFileTypes: true })) {
    if (item.name === ofDisk) continue;
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
  writePrivate(file, text);
  return text;
}

/** Writes a file for its owner alone; a process that is killed meanwhile leaves the one before it. */
export function writePrivate(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** The content of a JSON file; undefined if it is missing or damaged. */
export function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

export const newSecret = () => randomBytes(32).toString('hex');
