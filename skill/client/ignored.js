/** The files of a folder that git ignores, as git itself says. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exits, Stop } from './server.js';

/** Folders that are ignored as a whole are one path, which ends in `/`. The project may not name a program that git runs. */
const listing = '-c core.fsmonitor=false ls-files --others --ignored --exclude-standard --directory -z'.split(' ');

/**
 * Whether git ignores a file, by its path below the folder. A tracked file is not ignored, whatever `.gitignore` says.
 * @param {string} folder
 * @returns {Promise<(path: string) => boolean>}
 */
export async function ignoredBelow(folder) {
  const ignored = new Set((ownList(folder) ?? (await listAlone(folder))).map((path) => path.normalize()));
  return (path) => {
    const normal = path.normalize();
    const above = [...normal.matchAll(/\//g)].map(({ index }) => normal.slice(0, index + 1));
    return [normal, ...above].some((one) => ignored.has(one));
  };
}

/**
 * By the rules of the repository that the folder is in. Undefined without one, and if it ignores the folder itself.
 * @param {string} folder
 */
function ownList(folder) {
  const listed = list(folder);
  return listed?.includes('./') ? undefined : listed;
}

/**
 * By the folder's own rules, with an empty repository in place of its own.
 * @param {string} folder
 */
async function listAlone(folder) {
  const home = await mkdtemp(join(tmpdir(), 'frontage-ignored-'));
  try {
    runQuietly(['init', '--quiet', home]);
    const listed = list(folder, [`--git-dir=${join(home, '.git')}`, '--work-tree=.']);
    if (listed) return listed;
    throw new Stop(exits.refused, `git cannot list the files of ${folder} that it ignores.`, {
      next: 'Install git, then repeat the command.',
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/**
 * @param {string} folder
 * @param {string[]} [settings]
 * @returns {string[] | undefined} Undefined if git fails.
 */
function list(folder, settings = []) {
  const { status, stdout } = runQuietly(['-C', folder, ...settings, ...listing]);
  return status === 0 ? stdout.split('\0').filter(Boolean) : undefined;
}

/** @param {string[]} args */
function runQuietly(args) {
  return spawnSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 256 * 1024 ** 2 });
}
