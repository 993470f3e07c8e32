/**
 * The bound of a folder of kept files that several processes fill. Each may add its share of a quarter before it looks at the whole and
 * takes away what was not asked for longest until three quarters are left: so all together never take more than the bound.
 */
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#runtime/clock.ts';

const blockBytes = 4096;
const touchEachMs = 60_000;
const statsAtOnce = 64;

type Options = { dir: string; bytesMax: number; processes: number; clock: Clock };

export function createCacheSpace({ dir, bytesMax, processes, clock }: Options) {
  const share = Math.floor(bytesMax / (4 * processes));
  // As if all were added: what an earlier process left is not known before the first look.
  let added = share;
  let writing = 0;
  let looking: Promise<void> | undefined;
  const touched = new LRUCache<string, number>({ max: 50_000 });

  async function look(): Promise<void> {
    await mkdir(dir, { recursive: true });
    const [addedBefore, writingBefore] = [added, writing];
    let held = 0;
    const files: { path: string; room: number; askedAt: number }[] = [];
    const queue = (await readdir(dir)).values();
    const ask = async () => {
      for (const name of queue) {
        const found = await stat(join(dir, name)).catch(ignoreMissing);
        if (!found) continue;
        files.push({ path: join(dir, name), room: diskBytesOf(found.size), askedAt: found.mtimeMs });
        held += diskBytesOf(found.size);
      }
    };
    await Promise.all(Array.from({ length: statsAtOnce }, ask));
    files.sort((one, other) => one.askedAt - other.askedAt);
    for (const { path, room } of files) {
      if (held <= bytesMax - share * processes) break;
      await rm(path, { force: true });
      held -= room;
    }
    // What was being written at the look may grow to all that was promised to it.
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

    /** Promises room for a file of so many bytes, or answers false. The promise is to be settled. */
    async take(bytes: number): Promise<boolean> {
      const room = diskBytesOf(bytes);
      if (!fits(bytes)) return false;
      if (added + room > share) await lookOnce();
      if (added + room > share) return false;
      added += room;
      writing += room;
      return true;
    },

    /** What was promised has become a file of so many bytes, or nothing at all. */
    settle(promised: number, kept: number): void {
      writing -= diskBytesOf(promised);
      added -= diskBytesOf(promised) - (kept > 0 ? diskBytesOf(kept) : 0);
    },

    /** The file was asked for. Told to the disk once a minute. */
    touch(name: string): void {
      const now = clock.now();
      const before = touched.get(name);
      if (before !== undefined && now.getTime() - before < touchEachMs) return;
      touched.set(name, now.getTime());
      utimes(join(dir, name), now, now).catch(ignoreMissing);
    },
  };
}

/** What a file takes of the disk: its bytes, the digest before them, its last block. */
function diskBytesOf(bytes: number): number {
  return Math.ceil((bytes + 32) / blockBytes) * blockBytes + blockBytes;
}

function ignoreMissing(): undefined {}
