/** Versions of sites that are being asked for: what each path of a deployment is, held in memory and never changed. */
import { LRUCache } from 'lru-cache';
import { readVersionRedirects, weightOf } from '#edge/routing/redirects.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { lookUpManifest } from '#providers/manifest-lookup.ts';
import { outputFault } from '#providers/paths.ts';
import { redirectsFile } from '#providers/redirects/file.ts';
import type { RedirectTable } from '#providers/redirects.ts';
import type { Store } from '#providers/store/store.ts';

/** The files of a version that visitors may have. */
export type Files = {
  get(path: string): ManifestFile | undefined;
  /** Those whose paths begin so. */
  within(prefix: string): Iterable<ManifestFile>;
};

export type Version = {
  /** Tells versions in memory apart, in a shorter way than its manifest's hash. */
  number: number;
  files: Files;
  /** The rules of its own `_redirects`. */
  redirects: RedirectTable | undefined;
  /** About what it takes in memory. */
  weight: number;
};

export type Versions = {
  /** The version, when it is in memory. */
  held(manifestSha256: string): Version | undefined;
  /** The version, read from the store once however many ask. Rejects when its manifest is missing or broken. */
  load(manifestSha256: string): Promise<Version>;
};

/** Holds versions up to `bytesMax` of memory, those asked for last. */
export function openVersions(store: Store, bytesMax: number): Versions {
  const cache = new LRUCache<string, Version>({
    maxSize: bytesMax,
    sizeCalculation: (version) => version.weight,
    // A reader that loses its place in the cache while it reads still answers.
    ignoreFetchAbort: true,
    fetchMethod: (sha256) => readVersion(store, sha256),
  });
  return {
    held: (sha256) => cache.get(sha256),
    load: (sha256) => cache.forceFetch(sha256),
  };
}

let versionsRead = 0;

/** Reads a manifest from the store. Rejects when it is missing or none. A line that is broken is found when its file is asked for. */
export async function readVersion(store: Store, manifestSha256: string): Promise<Version> {
  const manifest = await store.readAll(manifestSha256);
  if (!manifest) throw new Error(`manifest ${manifestSha256} is not in the store`);
  const lines = lookUpManifest(manifest);
  const redirects = await readVersionRedirects(store, lines.get(redirectsFile));
  versionsRead += 1;
  return {
    number: versionsRead,
    redirects,
    weight: lines.bytes + weightOf(redirects) + 1024,
    files: {
      get(path) {
        const file = lines.get(path);
        return file && isServed(file) ? file : undefined;
      },
      *within(prefix) {
        for (const file of lines.within(prefix)) if (isServed(file)) yield file;
      },
    },
  };
}

/** Written before a rule was, a manifest may name what is served no more. */
function isServed({ path }: ManifestFile): boolean {
  return path !== redirectsFile && !outputFault(path);
}
