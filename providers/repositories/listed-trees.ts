/** The files of commits, kept in memory: a commit never changes. */
import { LRUCache } from 'lru-cache';
import type { Place } from './git.ts';
import { listCommit, type TreeEntry } from './objects.ts';

/** Memory of the commits that were listed last, together. */
const bytesMax = 16 * 1024 * 1024;
/** Of an entry, besides its path. */
const entryBytes = 200;

export type ListedTrees = {
  /** Every file of a commit, as `listCommit`. */
  list(place: Place, commit: string): Promise<readonly TreeEntry[]>;
  /** For a removed repository. */
  forget(place: Place): void;
};

export function openListedTrees(): ListedTrees {
  const listed = new LRUCache<string, readonly TreeEntry[]>({
    maxSize: bytesMax,
    sizeCalculation: (files) => files.reduce((sum, { path }) => sum + path.length + entryBytes, entryBytes),
  });
  return {
    async list(place, commit) {
      const key = `${place.dir}/${commit}`;
      const files = listed.get(key) ?? (await listCommit(place, commit));
      listed.set(key, files);
      return files;
    },
    forget({ dir }) {
      for (const key of listed.keys()) if (key.startsWith(`${dir}/`)) listed.delete(key);
    },
  };
}
