/** What a push could leave behind. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repository } from '../../db/states.ts';
import { git } from './git.ts';
import type { Platform } from './platform.ts';

/** The refs of a repository and the quarantines in it. */
export async function stateOf(platform: Platform, siteId: string, repository: Repository = 'source') {
  const { dir } = platform.repositories.place(siteId, repository);
  const quarantines = (await readdir(join(dir, 'objects'))).filter((name) => name.includes('incoming'));
  return { refs: await git(dir, ['for-each-ref']), quarantines };
}

/** Command lines of the git processes that work on this site's repositories. */
export async function gitProcesses(platform: Platform, siteId: string): Promise<string[]> {
  const { dir } = platform.repositories.place(siteId, 'source');
  const lines = (await readdir('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
  return (await Promise.all(lines)).filter((line) => /^(git|\/bin\/sh)/.test(line) && line.includes(dir));
}
