/**
 * Reads which posts are drafts, within a limit of time: parsers of YAML and TOML can need the square of a text's
 * length. Short texts are read here, with pauses, and long ones in a thread.
 */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import {
  type DraftData,
  type DraftMark,
  draftDataOf,
  draftMarkOf,
  UnreadableFrontMatter,
} from '#providers/repositories/drafts.ts';
import { startSlices } from '#runtime/slices.ts';
import type { Verdict } from './draft-thread.ts';

export type DraftReader = {
  /** Whether the file is a draft, see `draftMarkOf`. Throws UnreadableFrontMatter, also when all files took too long. */
  isDraft(path: string, text: string): Promise<boolean>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** For all posts of a snapshot. */
const readMs = 20_000;
const shortMax = 4_096;
const memory = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** Marks of short texts, by their hashes. A publish changes few posts, and parsing all of a blog takes longest. */
const known = new LRUCache<string, DraftMark>({ max: 100_000 });

export function createDraftReader(limitMs = readMs): DraftReader {
  const pause = startSlices();
  let [leftMs, thread]: [number, Worker | undefined] = [limitMs, undefined];

  async function inThread(data: DraftData): Promise<DraftMark> {
    thread ??= new Worker(new URL('./draft-thread.ts', import.meta.url), { resourceLimits: memory });
    const signal = AbortSignal.timeout(Math.max(1, Math.ceil(leftMs)));
    thread.postMessage(data);
    // Rejects as well if the thread ends for lack of memory.
    const [verdict] = (await once(thread, 'message', { signal }).catch(() => [])) as [Verdict?];
    if (!verdict) throw tooLong();
    if ('fault' in verdict) throw new UnreadableFrontMatter(verdict.fault);
    return verdict.mark;
  }

  return {
    async isDraft(path, text) {
      const data = draftDataOf(path, text);
      if (!data) return false;
      if (leftMs <= 0) throw tooLong();
      const began = performance.now();
      try {
        const mark = data.text.length <= shortMax ? knownMarkOf(data) : await inThread(data);
        return mark !== 'no draft';
      } finally {
        leftMs -= performance.now() - began;
        await pause();
      }
    },
    async [Symbol.asyncDispose]() {
      await thread?.terminate();
    },
  };
}

function knownMarkOf(data: DraftData): DraftMark {
  const key = hash('sha256', `${data.format} ${data.text}`);
  const mark = known.get(key) ?? draftMarkOf(data);
  known.set(key, mark);
  return mark;
}

function tooLong(): UnreadableFrontMatter {
  return new UnreadableFrontMatter('its front matter or data takes too long to read; make it shorter');
}
