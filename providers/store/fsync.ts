/** Makes written files durable, many files with few waits. */
import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import pLimit from 'p-limit';

// Above this, one syncfs(2) is faster than as many waits for the journal, though it also waits for others' writes.
export const fileSyncsMax = 64;
const openMax = 256;

export type FsyncQueue = {
  /** Files, under their final names, for the next flush. */
  add(paths: string[]): void;
  /** Returns when all files added before survive a loss of power. Files that failed to sync stay for the next flush. */
  flush(): Promise<void>;
};

/** `filesOf`: a path that was added, with its variants; none if it is missing. */
export function createFsyncQueue(dir: string, filesOf: (path: string) => Promise<string[]>): FsyncQueue {
  let pending = new Set<string>();
  let flushing: Promise<void> = Promise.resolve();
  const limit = pLimit(openMax);
  const syncEach = (paths: Iterable<string>) => limit.map(withFolders(paths), sync);

  async function flush(): Promise<void> {
    const paths = pending;
    pending = new Set();
    try {
      if (paths.size <= fileSyncsMax) await syncEach(paths);
      else if (!(await syncFileSystem(dir))) await syncEach((await limit.map(paths, filesOf)).flat());
    } catch (error) {
      // A missing file would fail every flush from now on: its loss is reported once.
      const left = await limit.map(paths, (path) => filesOf(path).catch(() => [path]));
      for (const path of left.flat()) pending.add(path);
      throw error;
    }
  }

  return {
    add(paths) {
      for (const path of paths) pending.add(path);
    },
    flush() {
      // One after the other: the current flush may be another caller's, with our files.
      flushing = flushing.catch(() => {}).then(flush);
      return flushing;
    },
  };
}

/** A file name is durable once its folder is synced. */
function withFolders(paths: Iterable<string>): Set<string> {
  const files = [...paths];
  return new Set([...files, ...files.flatMap((path) => [dirname(path), dirname(dirname(path))])]);
}

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * `false` where the system has no such program. Elsewhere than on Linux, sync(2) may return before all is written. Rejects
 * if the program fails.
 */
function syncFileSystem(dir: string): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false);
  return new Promise((resolve, reject) => {
    spawn('sync', ['-f', dir], { stdio: 'ignore' })
      .once('error', () => resolve(false))
      .once('close', (code) => (code === 0 ? resolve(true) : reject(new Error(`sync exited with ${code}`))));
  });
}
