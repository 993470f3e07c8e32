/** What npm is to install and has installed, read from lockfiles. Plain JavaScript: the first start calls it before Node can run TypeScript. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ version?: string, integrity?: string, dev?: boolean, optional?: boolean, os?: string | string[], cpu?: string | string[],
 *   libc?: string | string[] }} Package
 * @typedef {{ packages: Record<string, Package>, [field: string]: unknown }} Lockfile
 */

/**
 * A lockfile, or npm's own list of what it installed; undefined if it cannot be read.
 * @param {string} file
 * @returns {Lockfile | undefined}
 */
export function readLockfile(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * The packages of a lockfile that this machine needs, by their folders.
 * @param {Lockfile} lockfile
 * @param {{ development: boolean }} options
 */
export function neededPackages(lockfile, { development }) {
  return Object.entries(lockfile.packages).filter(
    ([path, one]) => path !== '' && (development || !one.dev) && isForThisMachine(one),
  );
}

/** @param {Package} one */
function isForThisMachine({ os, cpu, libc }) {
  return fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, 'glibc');
}

/**
 * @param {string | string[] | undefined} list
 * @param {string} value
 */
function fits(list, value) {
  if (list === undefined) return true;
  return [list].flat().some((one) => one === value || (one.startsWith('!') && one.slice(1) !== value));
}

/**
 * The folders of the packages that npm certainly unpacks: some optional ones belong to a package for another platform.
 * @param {Lockfile} lockfile
 * @param {{ development: boolean }} options
 */
export function countedPackages(lockfile, options) {
  const needed = neededPackages(lockfile, options);
  return needed.filter(([, { optional, os, cpu }]) => !optional || os || cpu).map(([path]) => path);
}

/**
 * Calls `show` with the number of packages that npm has unpacked so far, twice a second. Returns a function that stops it.
 * @param {string} folder
 * @param {string[]} paths
 * @param {(done: number, all: number) => void} show
 */
export function watchPackages(folder, paths, show) {
  const count = () => show(paths.filter((path) => existsSync(join(folder, path, 'package.json'))).length, paths.length);
  count();
  const timer = setInterval(count, 500);
  return () => clearInterval(timer);
}
