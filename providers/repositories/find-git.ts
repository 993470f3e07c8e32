/** Which git this process uses. */
import { spawnSync } from 'node:child_process';
import { programFolders } from '#runtime/config.ts';
import { olderGit } from '#runtime/git-version.mjs';

const systemPath = '/usr/local/bin:/usr/bin:/bin';

/** Folders for PATH, and the output of `git --version` there; empty if there is no git. */
type Git = { path: string; version: string };
let found: Git | undefined;

/** The git of this process, looked for once. */
export function findGit(): Git {
  found ??= chooseGit();
  return found;
}

/**
 * The system's git, unless it is missing or too old and another one on PATH is not. npm puts the programs of packages first
 * on PATH: they choose no git.
 */
function chooseGit(): Git {
  const system = gitAt(systemPath);
  if (isRecent(system)) return system;
  for (const folder of programFolders.filter((one) => !one.endsWith('/node_modules/.bin'))) {
    const own = gitAt(`${folder}:${systemPath}`);
    if (isRecent(own)) return own;
  }
  return system;
}

function gitAt(path: string): Git {
  const env = { PATH: path, HOME: '/nonexistent' };
  const { status, stdout } = spawnSync('git', ['--version'], { encoding: 'utf8', env });
  return { path, version: status === 0 ? stdout : '' };
}

const isRecent = ({ version }: Git) => version !== '' && olderGit(version) === undefined;
