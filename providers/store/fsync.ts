/** Makes written files durable, many files with few waits. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

// Above this, one syncfs(2) is faster than as many waits for the journal, though it also waits for others' writes.
export const fileSyncsMax = 64;

export type FsyncQueue = {
  /** Files, under their final names, for the next flush. */
  add(paths: string[]): void;
  /** Returns when all files added before survive a loss of power. Files that failed to sync stay for the next flush. */
  flush(): Promise<void>;
};

export function createFsyncQueue(dir: string): FsyncQueue {
  let pending = new Set<string>();
  let flushing: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    const paths = pending;
    pending = new Set();
    try {
      if (paths.size > fileSyncsMax) await syncFileSystem(dir);
      else await Promise.all([...withFolders(paths)].map(sync));
    } catch (error) {
      // A missing file would fail every flush from now on: its loss is reported once.
      for (const path of paths) if (existsSync(path)) pending.add(path);
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
function withFolders(paths: Set<string>): Set<string> {
  const folders = [...paths].flatMap((path) => [dirname(path), dirname(dirname(path))]);
  return new Set([...paths, ...folders]);
}

async function sync(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function syncFileSystem(dir: string): Promise<void> {
  return new Promise((resolve, reject) => {
    spawn('sync', ['-f', dir], { stdio: 'ignore' })
      .once('error', reject)
      .once('close', (code) => (code === 0 ? resolve() : reject(new Error(`sync exited with ${code}`))));
  });
}
