/** What a push could leave behind. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repository } from '#rules/states.ts';
import { git } from './git.ts';
import type { Platform } from './platform.ts';

/** The refs of a repository and the quarantines in it. */
export async function stateOf(platform: Platform, siteId: string, repository: Repository = 'source') {
  const { dir } = platform.repositories.place(siteId, repository);
  const quarantines = (await readdir(join(dir, 'objects'))).filter((name) => name.includes('incoming'));
  return { refs: await git(dir, ['for-each-ref']), quarantines };
}

type Found = { pid: string; line: string };

async function processes(platform: Platform, siteId: string): Promise<Found[]> {
  const { dir } = platform.repositories.place(siteId, 'source');
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      // What git starts by itself names no repository, but stands in it.
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      return /^(git|\/bin\/sh|\/usr\/lib\/git)/.test(line) && (line.includes(dir) || cwd === dir)
        ? [{ pid, line }]
        : [];
    }),
  );
  return found.flat();
}

/** Command lines of the git processes that work on this site's repositories. */
export async function gitProcesses(platform: Platform, siteId: string): Promise<string[]> {
  return (await processes(platform, siteId)).map(({ line }) => line);
}

/** Watches how much memory a site's git processes take while something runs. Answers the largest one's peak, in bytes. */
export async function peakMemory(platform: Platform, siteId: string, act: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      for (const { pid } of await processes(platform, siteId)) {
        const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
        peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024);
      }
      await new Promise((next) => setTimeout(next, 5));
    }
  })();
  try {
    await act();
  } finally {
    isOver = true;
    await watching;
  }
  return peak;
}
