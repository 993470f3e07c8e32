/** Versions of sites that are being asked for: what each path of a deployment is, held in memory and never changed. */
import { LRUCache } from 'lru-cache';
import { type ManifestFile, parseManifest } from '../providers/manifest.ts';
import { outputFault } from '../providers/paths.ts';
import { redirectsFile } from '../providers/redirects/file.ts';
import type { RedirectTable } from '../providers/redirects.ts';
import type { Store } from '../providers/store/store.ts';
import { readVersionRedirects, weightOf } from './redirects.ts';

export type Version = {
  files: ReadonlyMap<string, ManifestFile>;
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

// Parsed, a line takes about four times its length.
const weightPerByte = 4;

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

/** Reads a manifest from the store. Rejects when it is missing or broken. */
export async function readVersion(store: Store, manifestSha256: string): Promise<Version> {
  const manifest = await store.readAll(manifestSha256);
  if (!manifest) throw new Error(`manifest ${manifestSha256} is not in the store`);
  const files = new Map<string, ManifestFile>();
  for (const file of parseManifest(manifest)) {
    if (!isSound(file)) throw new Error(`manifest ${manifestSha256} holds an unusable line`);
    // Written before a rule was, a manifest may name what is served no more.
    if (!outputFault(file.path)) files.set(file.path, file);
  }
  const redirects = await readVersionRedirects(store, files);
  files.delete(redirectsFile);
  return { files, redirects, weight: manifest.length * weightPerByte + weightOf(redirects) + 1024 };
}

function isSound(file: ManifestFile): boolean {
  return (
    typeof file.path === 'string' &&
    /^[0-9a-f]{64}$/.test(file.sha256) &&
    Number.isSafeInteger(file.bytes) &&
    (file.encodings === undefined || Array.isArray(file.encodings))
  );
}
