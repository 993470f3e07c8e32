/**
 * Hashed assets of other versions than the one served: a page that a visitor opened before a publish still asks for its own scripts
 * and pictures afterwards, and a page that a faster edge answered asks for newer ones.
 */
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { ManifestFile } from '../providers/manifest.ts';
import type { Store } from '../providers/store/store.ts';
import type { EdgeDatabase } from './database.ts';
import { isHashedAsset } from './files.ts';
import { readVersion } from './versions.ts';

export type EarlierAssets = {
  /** The asset, if a version had it that was live in the last 30 days. Without the database: if it was found before. */
  find(siteId: string, path: string): Promise<ManifestFile | undefined>;
};

type Assets = ReadonlyMap<string, ManifestFile>;
type History = { askedAt: number; byManifest: ReadonlyMap<string, Assets>; weight: number };

const keptMs = 30 * 24 * 60 * 60 * 1000;
// However many missing paths are asked for, a site costs one question a second.
const askAgainAfterMs = 1_000;
const weightPerAsset = 400;
const assetsMax = 100_000;

type Parts = { database: EdgeDatabase; store: Store; clock: Clock; log: Logger; bytesMax: number };

export function openEarlierAssets({ database, store, clock, log, bytesMax }: Parts): EarlierAssets {
  const histories = new LRUCache<string, History>({
    maxSize: bytesMax,
    sizeCalculation: (history) => history.weight,
    ignoreFetchAbort: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: (siteId, before) => ask(siteId, before),
  });

  let failedAt = Number.NEGATIVE_INFINITY;

  async function ask(siteId: string, before: History | undefined): Promise<History> {
    const since = new Date(clock.now().getTime() - keptMs);
    const manifests = await database.manifestsSeenSince(siteId, since);
    const byManifest = new Map<string, Assets>();
    let count = 0;
    for (const manifest of new Set(manifests)) {
      const assets = before?.byManifest.get(manifest) ?? (await readAssets(manifest));
      byManifest.set(manifest, assets);
      count += assets.size;
      if (count > assetsMax) break;
    }
    return { askedAt: performance.now(), byManifest, weight: 1024 + count * weightPerAsset };
  }

  async function readAssets(manifest: string): Promise<Assets> {
    try {
      const { files } = await readVersion(store, manifest);
      const assets = new Map<string, ManifestFile>();
      let read = 0;
      for (const file of files.within('_astro/')) {
        if (isHashedAsset(file.path)) assets.set(file.path, file);
        // However many there are, other requests come in between.
        if (++read % 500 === 0) await setImmediate();
      }
      return assets;
    } catch (err) {
      log.error({ err, manifest }, 'an earlier version could not be read');
      return new Map();
    }
  }

  return {
    async find(siteId, path) {
      const known = histories.get(siteId);
      const asset = known && findIn(known, path);
      if (asset || performance.now() - Math.max(failedAt, known?.askedAt ?? failedAt) < askAgainAfterMs) return asset;
      try {
        const fresh = await histories.fetch(siteId, { forceRefresh: true });
        return fresh && findIn(fresh, path);
      } catch (err) {
        failedAt = performance.now();
        log.error({ err, siteId }, 'earlier versions could not be asked for');
        return undefined;
      }
    },
  };
}

function findIn(history: History, path: string): ManifestFile | undefined {
  for (const assets of history.byManifest.values()) {
    const asset = assets.get(path);
    if (asset) return asset;
  }
  return undefined;
}
