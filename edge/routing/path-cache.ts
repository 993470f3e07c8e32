/** Caches which file each path of a version is, least recently used first out. */
import { LRUCache } from 'lru-cache';
import { type ServedFile, servedFile, weightOfServed } from '#edge/content/representations.ts';
import type { Version } from '#edge/content/versions.ts';
import { findFile } from '#providers/manifest-paths.ts';

export type FoundPath = { served: ServedFile } | { redirectTo: string };

export type PathCache = {
  find(version: Version, path: string): FoundPath | undefined;
  /** The file `target` as it is served at another path: a 404 page, or the target of a rewrite. */
  findFor(version: Version, path: string, target: string): ServedFile | undefined;
};

const weightOfRedirect = 2_048;

/** Uses up to `bytesMax` of memory. Missing paths are not cached: there is no end to them. */
export function createPathCache(bytesMax: number): PathCache {
  const cache = new LRUCache<string, FoundPath>({
    maxSize: bytesMax,
    sizeCalculation: (found) => ('served' in found ? weightOfServed(found.served) : weightOfRedirect),
  });

  function findCached(key: string, make: () => FoundPath | undefined): FoundPath | undefined {
    const known = cache.get(key);
    if (known) return known;
    const found = make();
    if (found) cache.set(key, found);
    return found;
  }

  return {
    find: (version, path) =>
      findCached(`${version.number}/${path}`, () => {
        const found = findFile(version.files, path);
        if (!found || 'redirectTo' in found) return found;
        return { served: servedFile(found.file, { headers: version.headers?.find(path) }) };
      }),
    findFor(version, path, target) {
      const headers = version.headers?.find(path);
      const found = findCached(`${version.number}#${headers?.id ?? 0}/${target}`, () => {
        const file = fileAt(version, target);
        return file && { served: servedFile(file, { headers, isOwnAddress: false }) };
      });
      return found && 'served' in found ? found.served : undefined;
    },
  };
}

/** A rewrite may name a page by any of its paths. */
function fileAt({ files }: Version, target: string) {
  const found = findFile(files, target);
  const again = found && 'redirectTo' in found ? findFile(files, found.redirectTo) : found;
  return again && 'file' in again ? again.file : undefined;
}
