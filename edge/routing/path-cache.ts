/** What the paths of versions were found to be, for those that were asked for last. */
import { LRUCache } from 'lru-cache';
import { findFile } from '#edge/content/files.ts';
import { type ServedFile, servedFile } from '#edge/content/representations.ts';
import type { Version } from '#edge/content/versions.ts';

export type FoundPath = { served: ServedFile } | { redirectTo: string };

export type Finding = {
  find(version: Version, path: string): FoundPath | undefined;
};

// About what a file takes with the head of its answers in one form or two.
const bytesPerPath = 2_048;

/** Remembers up to `bytesMax` of memory. What is not there is looked for each time: there is no end to such paths. */
export function openFinding(bytesMax: number): Finding {
  const cache = new LRUCache<string, FoundPath>({ max: Math.ceil(bytesMax / bytesPerPath) });
  return {
    find(version, path) {
      const key = `${version.number}/${path}`;
      const known = cache.get(key);
      if (known) return known;
      const found = findFile(version.files, path);
      if (!found) return undefined;
      const kept = 'file' in found ? { served: servedFile(found.file) } : found;
      cache.set(key, kept);
      return kept;
    },
  };
}
