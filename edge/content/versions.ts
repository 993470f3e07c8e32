/** Caches versions of sites: the files of a deployment by path. Versions never change. */
import { LRUCache } from 'lru-cache';
import { readVersionRedirects } from '#edge/routing/redirects.ts';
import { headersFile, parseHeadersFile } from '#providers/headers/file.ts';
import { createHeaderTable, type HeaderTable } from '#providers/headers.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { lookUpManifest } from '#providers/manifest-lookup.ts';
import { outputFault } from '#providers/paths.ts';
import { redirectsFile } from '#providers/redirects/file.ts';
import { isChallenge, type RedirectTable } from '#providers/redirects.ts';
import type { Store } from '#providers/store/store.ts';

/** The served files of a version. */
export type Files = {
  get(path: string): ManifestFile | undefined;
  /** Files whose paths have this prefix. */
  within(prefix: string): Iterable<ManifestFile>;
};

export type Version = {
  /** Identifies the version in memory; shorter than its manifest's hash. */
  number: number;
  files: Files;
  /** The rules of its own `_redirects`. */
  redirects: RedirectTable | undefined;
  /** The header fields of its own `_headers`. */
  headers: HeaderTable | undefined;
  /** Approximate bytes of memory. */
  weight: number;
};

export type Versions = {
  /** The version, if in memory. */
  cached(manifestSha256: string): Version | undefined;
  /** The version; concurrent calls share one read. Rejects if its manifest is missing or invalid. */
  load(manifestSha256: string): Promise<Version>;
};

/** Caches up to `bytesMax` of versions, least recently used first out. */
export function createVersions(store: Store, bytesMax: number): Versions {
  const cache = new LRUCache<string, Version>({
    maxSize: bytesMax,
    sizeCalculation: (version) => version.weight,
    // A read whose entry is evicted meanwhile still returns its result.
    ignoreFetchAbort: true,
    fetchMethod: (sha256) => readVersion(store, sha256),
  });
  return {
    cached: (sha256) => cache.get(sha256),
    load: (sha256) => cache.forceFetch(sha256),
  };
}

let versionsRead = 0;

/** Reads a manifest from the store. Rejects if it is missing or invalid. An invalid line fails when its file is requested. */
export async function readVersion(store: Store, manifestSha256: string): Promise<Version> {
  const manifest = await store.readAll(manifestSha256);
  if (!manifest) throw new Error(`manifest ${manifestSha256} is not in the store`);
  const lines = lookUpManifest(manifest);
  const redirects = await readVersionRedirects(store, lines.get(redirectsFile));
  const headers = await readVersionHeaders(store, lines.get(headersFile));
  versionsRead += 1;
  return {
    number: versionsRead,
    redirects,
    headers,
    weight: lines.bytes + (redirects?.weight ?? 0) + (headers?.weight ?? 0) + 1024,
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

/** They were validated when the version was published: an invalid file is older than such rules, and is ignored. */
async function readVersionHeaders(store: Store, file: ManifestFile | undefined): Promise<HeaderTable | undefined> {
  if (!file) return undefined;
  const content = await store.readAll(file.sha256);
  if (!content) throw new Error(`blob ${file.sha256} is missing`);
  try {
    return createHeaderTable(parseHeadersFile(content));
  } catch {
    return undefined;
  }
}

/** An old manifest may contain files that later rules forbid. */
function isServed({ path }: ManifestFile): boolean {
  return path !== redirectsFile && path !== headersFile && !isChallenge(path) && !outputFault(path);
}
