/**
 * The packages in `node_modules`, at two levels. `npm start` needs those that run, without types, source maps and other platforms' binaries:
 * the slim level. Tests and checks need all of them, complete.
 *
 * npm lists what it installed in `node_modules/.package-lock.json`. A slim tree's list has the field `slim` and no checksums, so `npm install`
 * by hand knows that these are not the published packages and installs them again.
 */
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { countedPackages, neededPackages, readLockfile, watchPackages } from '#runtime/npm-packages.mjs';
import { slimPackages } from '#runtime/slim-packages.mjs';

const own = ['package.json', 'package-lock.json', '.npmrc'];
const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

/** @typedef {{ show: (line: string) => void, log: string, signal: AbortSignal }} Options */

/**
 * Whether each package has the lockfile's version.
 * @param {string} root
 * @param {{ development: boolean }} level
 */
export function isInstalled(root, level) {
  const wanted = readLockfile(join(root, 'package-lock.json'));
  const present = readLockfile(listOf(root));
  if (!wanted || !present || (level.development ? present.slim : present.slim === 'begun')) return false;
  return hasVersions(wanted, present, level);
}

const listOf = (/** @type {string} */ root) => join(root, 'node_modules', '.package-lock.json');

/**
 * @param {import('#runtime/npm-packages.mjs').Lockfile} wanted
 * @param {import('#runtime/npm-packages.mjs').Lockfile} present
 * @param {{ development: boolean }} level
 */
function hasVersions(wanted, present, level) {
  return neededPackages(wanted, level).every(([path, { version, optional }]) => {
    const found = present.packages[path];
    return found?.version === version || (optional && !found);
  });
}

/**
 * Installs the packages. A complete tree stays complete. A slim one that has to become complete is completed by adding files, because a running
 * `npm start` uses those that are there.
 * @param {string} root
 * @param {{ development: boolean }} level
 * @param {Options} options
 */
export async function installPackages(root, level, options) {
  const wanted = readLockfile(join(root, 'package-lock.json'));
  const present = readLockfile(listOf(root));
  if (!wanted) throw new Error('package-lock.json cannot be read. Restore it with git.');
  const fits = present !== undefined && hasVersions(wanted, present, { development: false });
  if (level.development && present?.slim && fits) return await complete(root, options);
  const development = level.development || (present !== undefined && !present.slim);
  if (!fits || !present?.slim)
    await npm(root, ['install', '--no-save', ...(development ? [] : ['--omit=dev'])], { development }, options);
  if (!development) slim(root, options);
}

/**
 * Interrupted, it starts again.
 * @param {string} root
 * @param {Options} options
 */
function slim(root, { show }) {
  const present = readLockfile(listOf(root));
  if (!present) return;
  show('removing what only development needs');
  for (const one of Object.values(present.packages)) delete one.integrity;
  write(listOf(root), { ...present, slim: 'begun' });
  slimPackages(join(root, 'node_modules'));
  write(listOf(root), { ...present, slim: true });
}

/**
 * @param {string} file
 * @param {object} content
 */
function write(file, content) {
  writeFileSync(`${file}.new`, JSON.stringify(content));
  renameSync(`${file}.new`, file);
}

/**
 * @param {string} root
 * @param {Options} options
 */
async function complete(root, options) {
  const modules = join(root, 'node_modules');
  const aside = join(modules, '.aside');
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside);
  for (const name of own) if (existsSync(join(root, name))) cpSync(join(root, name), join(aside, name));
  await npm(aside, ['install', '--no-save'], { development: true }, options);
  options.show('adding them');
  addMissing(join(aside, 'node_modules'), modules);
  renameSync(listOf(aside), listOf(root));
  rmSync(aside, { recursive: true, force: true });
}

/**
 * @param {string} from
 * @param {string} to
 */
function addMissing(from, to) {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const target = join(to, entry.name);
    if (entry.name === '.package-lock.json') continue;
    if (!lstatSync(target, { throwIfNoEntry: false })) renameSync(join(from, entry.name), target);
    else if (entry.isDirectory()) addMissing(join(from, entry.name), target);
  }
}

/**
 * Not `npm ci` for our packages: it refuses a lockfile that lacks the optional packages of other platforms.
 * @param {string} folder
 * @param {string[]} args
 * @param {{ development: boolean }} level
 * @param {Options} options
 */
export async function npm(folder, args, level, { show, log, signal }) {
  const lockfile = readLockfile(join(folder, 'package-lock.json'));
  const paths = lockfile ? countedPackages(lockfile, level) : [];
  // npm refuses a prefix that leads through a symbolic link.
  const prefix = realpathSync(folder);
  const child = spawn('npm', [...args, '--prefix', prefix, ...flags], {
    cwd: prefix,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const stop = watchPackages(folder, paths, (done, all) => show(`installing packages: ${done} of ${all}`));
  child.on('error', () => {}); // It closes too.
  const code = await new Promise((resolve) => child.once('close', resolve)).finally(stop);
  signal.throwIfAborted();
  if (code === 0) return;
  writeFileSync(log, output);
  const line =
    output.split('\n').find((one) => /^npm (error|ERR!) (?!code|errno|syscall)\S/.test(one)) ?? `exit code ${code}`;
  throw new Error(
    `The packages could not be installed: ${line} (log: ${log}; fix the problem and run the same command again)`,
  );
}
