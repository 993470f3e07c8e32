/** The manifest of a deployment: the bytes of each path. Stored as a blob of JSON lines, sorted by path. */
import type { Encoding } from './store/store.ts';

export type ManifestFile = {
  path: string;
  sha256: string;
  bytes: number;
  /** Compressed variants that are stored beside the bytes; absent if there are none. */
  encodings?: Exclude<Encoding, 'identity'>[];
};

export type ManifestChanges = { added: ManifestFile[]; modified: ManifestFile[]; removed: ManifestFile[] };

/** The same files in any order render to the same bytes. */
export function renderManifest(files: Iterable<ManifestFile>): Buffer {
  const lines = [...files]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, sha256, bytes, encodings }) =>
      JSON.stringify({ path, sha256, bytes, ...(encodings?.length ? { encodings } : {}) }),
    );
  return Buffer.from(lines.map((line) => `${line}\n`).join(''));
}

/** Parses the output of `renderManifest`. */
export function parseManifest(manifest: Buffer): ManifestFile[] {
  const text = manifest.toString('utf8');
  // Parsing one array is three times as fast as parsing each line.
  return JSON.parse(`[${text.trimEnd().replaceAll('}\n{', '},{')}]`);
}

/** The changes from `before` to `after`, each list sorted by path. */
export function diffManifests(before: ManifestFile[], after: ManifestFile[]): ManifestChanges {
  const old = new Map(before.map((file) => [file.path, file]));
  const changes: ManifestChanges = { added: [], modified: [], removed: [] };
  for (const file of after) {
    const earlier = old.get(file.path);
    old.delete(file.path);
    if (!earlier) changes.added.push(file);
    else if (earlier.sha256 !== file.sha256) changes.modified.push(file);
  }
  changes.removed.push(...old.values());
  return changes;
}
