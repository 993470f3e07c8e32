/** Finds files in a stored manifest without parsing all of it, by binary search: its lines are sorted by path. */
import type { ManifestFile } from './manifest.ts';

export type ManifestLookup = {
  /** The file at this path. Throws if its line is not in the format of `renderManifest`. */
  get(path: string): ManifestFile | undefined;
  /** All files whose path starts with the prefix, in order. */
  within(prefix: string): Generator<ManifestFile>;
  /** Approximate memory use. */
  bytes: number;
};

const lineFeed = 10;
const quote = 34;
const beforePath = '{"path":"';

/** Expects the output of `renderManifest`. Throws on anything that clearly is not. */
export function lookUpManifest(manifest: Buffer): ManifestLookup {
  const starts = lineStarts(manifest);
  const count = starts.length - 1;

  const line = (n: number) => manifest.toString('utf8', starts[n], (starts[n + 1] as number) - 1);

  function pathAt(n: number): string {
    const start = (starts[n] as number) + beforePath.length;
    // A quote within a path is escaped with a backslash, and such a path needs JSON parsing.
    const path = manifest.toString('utf8', start, manifest.indexOf(quote, start));
    return path.includes('\\') ? String(JSON.parse(line(n)).path) : path;
  }

  /** The first line whose path is not before this one, in UTF-16 code units, as the lines are sorted. */
  function lowerBound(path: string): number {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (pathAt(middle) < path) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function fileAt(n: number): ManifestFile {
    const file: ManifestFile = JSON.parse(line(n));
    if (!isSound(file)) throw new Error('a manifest contains an invalid line');
    return file;
  }

  if (count > 0) [fileAt(0), fileAt(count - 1)];

  return {
    get(path) {
      const n = lowerBound(path);
      return n < count && pathAt(n) === path ? fileAt(n) : undefined;
    },
    *within(prefix) {
      for (let n = lowerBound(prefix); n < count && pathAt(n).startsWith(prefix); n++) yield fileAt(n);
    },
    bytes: manifest.length + starts.byteLength,
  };
}

/** The start of each line, and after them the end of the last. */
function lineStarts(manifest: Buffer): Uint32Array {
  let starts = new Uint32Array(1024);
  let count = 1;
  for (let at = manifest.indexOf(lineFeed); at !== -1; at = manifest.indexOf(lineFeed, at + 1)) {
    if (count === starts.length) {
      const longer = new Uint32Array(count * 2);
      longer.set(starts);
      starts = longer;
    }
    starts[count++] = at + 1;
  }
  if (starts[count - 1] !== manifest.length) throw new Error('a manifest ends with an incomplete line');
  return starts.slice(0, count);
}

function isSound(file: ManifestFile): boolean {
  return (
    typeof file.path === 'string' &&
    /^[0-9a-f]{64}$/.test(file.sha256) &&
    Number.isSafeInteger(file.bytes) &&
    (file.encodings === undefined || Array.isArray(file.encodings))
  );
}
