/** Caches which file each path of a version is, least recently used first out. */
import { LRUCache } from 'lru-cache';
import { findFile } from '#edge/content/files.ts';
import { type ServedFile, servedFile } from '#edge/content/representations.ts';
import type { Version } from '#edge/content/versions.ts';

export type FoundPath = { served: ServedFile } | { redirectTo: string };

export type PathCache = {
  find(version: Version, path: string): FoundPath | undefined;
};

// About the size of a file with the heads of one or two representations.
const bytesPerPath = 2_048;

/** Uses up to `bytesMax` of memory. Missing paths are not cached: there is no end to them. */
export function createPathCache(bytesMax: number): PathCache {
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
