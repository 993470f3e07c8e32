/**
 * The size limit of a cache folder that several processes fill. Each may add its share of a quarter before it scans the
 * folder and removes the least recently used files until three quarters are left: so all together never exceed the
 * limit.
 */
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { Clock } from '#runtime/clock.ts';

const blockBytes = 4096;
const touchEachMs = 60_000;
const statsAtOnce = 64;

type Options = { dir: string; bytesMax: number; processes: number; clock: Clock };

export function createCacheSpace({ dir, bytesMax, processes, clock }: Options) {
  const share = Math.floor(bytesMax / (4 * processes));
  // Assume that the share is used up: files of earlier processes are unknown before the first scan.
  let added = share;
  let writing = 0;
  let looking: Promise<void> | undefined;
  const touched = new LRUCache<string, number>({ max: 50_000 });

  async function look(): Promise<void> {
    await mkdir(dir, { recursive: true });
    const [addedBefore, writingBefore] = [added, writing];
    let usedBytes = 0;
    const files: { path: string; room: number; readAt: number }[] = [];
    await pLimit(statsAtOnce).map(await readdir(dir), async (name) => {
      const found = await stat(join(dir, name)).catch(ignoreMissing);
      if (!found) return;
      files.push({ path: join(dir, name), room: diskBytesOf(found.size), readAt: found.mtimeMs });
      usedBytes += diskBytesOf(found.size);
    });
    files.sort((one, other) => one.readAt - other.readAt);
    for (const { path, room } of files) {
      if (usedBytes <= bytesMax - share * processes) break;
      await rm(path, { force: true });
      usedBytes -= room;
    }
    // Files that were being written during the scan may still grow to their reserved size.
    added = added - addedBefore + writingBefore;
  }

  function lookOnce(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  const fits = (bytes: number) => diskBytesOf(bytes) <= share;

  return {
    fits,

    /** Reserves room for a file of this size; false if there is none. Every reservation must be settled. */
    async take(bytes: number): Promise<boolean> {
      const room = diskBytesOf(bytes);
      if (!fits(bytes)) return false;
      if (added + room > share) await lookOnce();
      if (added + room > share) return false;
      added += room;
      writing += room;
      return true;
    },

    /** Replaces a reservation with the actual size of the file, 0 if there is none. */
    settle(promised: number, kept: number): void {
      writing -= diskBytesOf(promised);
      added -= diskBytesOf(promised) - (kept > 0 ? diskBytesOf(kept) : 0);
    },

    /** Marks the file as used, on the disk at most once a minute. */
    touch(name: string): void {
      const now = clock.now();
      const before = touched.get(name);
      if (before !== undefined && now.getTime() - before < touchEachMs) return;
      touched.set(name, now.getTime());
      utimes(join(dir, name), now, now).catch(ignoreMissing);
    },
  };
}

/** Disk space of a file: its bytes, the digest before them, its last block. */
function diskBytesOf(bytes: number): number {
  return Math.ceil((bytes + 32) / blockBytes) * blockBytes + blockBytes;
}

function ignoreMissing(): undefined {}
