/** The Node that runs Frontage: this one if it can run TypeScript; otherwise one that npm installs (`tools/node`). */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readLockfile } from '#runtime/npm-packages.mjs';
import { slimPackages } from '#runtime/slim-packages.mjs';
import { npm } from './packages.mjs';

const name = `node-${process.platform}-${process.arch}`;
const linkOf = (/** @type {string} */ root) => join(root, 'node_modules', '.bin', 'node');
const filesOf = (/** @type {string} */ root) => join(root, 'tools', 'node');

/**
 * Its path; undefined if it has to be installed.
 * @param {string} root
 */
export function findNode(root) {
  if (isNewEnough(process.versions.node) && isSelfContained()) return process.execPath;
  const { stdout } = spawnSync(linkOf(root), ['--version'], { encoding: 'utf8' });
  return stdout && isNewEnough(stdout.trim().slice(1)) ? linkOf(root) : undefined;
}

/** The first version that runs TypeScript without a warning. */
function isNewEnough(/** @type {string} */ version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 3);
}

/** Some distributions divide Node into libraries and scripts, which the sandbox would lack. Node lists the scripts that it contains. */
function isSelfContained() {
  const { node_shared, node_builtin_shareable_builtins: scripts = [] } = /** @type {Record<string, any>} */ (
    process.config.variables
  );
  return process.platform !== 'linux' || (!node_shared && scripts.includes('deps/undici/undici.js'));
}

/**
 * Whether npm has a Node for this machine.
 * @param {string} root
 */
export function canInstallNode(root) {
  return readLockfile(join(filesOf(root), 'package-lock.json'))?.packages[`node_modules/${name}`] !== undefined;
}

/**
 * Installs it and links it where npm's scripts find it.
 * @param {string} root
 * @param {import('./packages.mjs').Options} options
 */
export async function installNode(root, options) {
  const folder = join(root, 'node_modules', '.node');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
  cpSync(filesOf(root), folder, { recursive: true });
  await npm(folder, ['ci'], { development: false }, { ...options, show: () => options.show('installing Node 24') });
  slimPackages(join(folder, 'node_modules'));
  const link = `${linkOf(root)}.new`;
  rmSync(link, { force: true });
  symlinkSync(join('..', '.node', 'node_modules', name, 'bin', 'node'), link);
  renameSync(link, linkOf(root));
}
