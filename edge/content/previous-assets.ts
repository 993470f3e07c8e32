/**
 * Hashed assets of other versions than the one served: a page that a visitor opened before a publish still asks for its own scripts
 * and pictures afterwards, and a page that a faster edge answered asks for newer ones.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { EdgeDatabase } from '#edge/routing/database.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import type { Store } from '#providers/store/store.ts';
import type { Clock } from '#runtime/clock.ts';
import { isHashedAsset } from './files.ts';
import { readVersion } from './versions.ts';

export type EarlierAssets = {
  /** The asset, if a version had it that was live in the last 30 days. Without the database: if it was found before. */
  find(siteId: string, path: string): Promise<ManifestFile | undefined>;
};

type Assets = ReadonlyMap<string, ManifestFile>;
/** Assets of all the manifests together, the newest version's first. */
type History = { askedAt: number; manifests: ReadonlySet<string>; assets: Assets; weight: number };

const keptMs = 30 * 24 * 60 * 60 * 1000;
// However many missing paths are asked for, a site costs four questions a second; who asks in between waits for the next.
const askAgainAfterMs = 250;
const weightPerAsset = 400;
const weightPerManifest = 200;
const silentAfterFailureMs = 1_000;
// One site takes at most this part of the room: what found no room at all would be read anew for each path that is missing.
const partOfSite = 1 / 2;

type Parts = { database: EdgeDatabase; store: Store; clock: Clock; log: Logger; bytesMax: number };

export function openEarlierAssets({ database, store, clock, log, bytesMax }: Parts): EarlierAssets {
  const histories = new LRUCache<string, History>({
    maxSize: bytesMax,
    sizeCalculation: (history) => history.weight,
    ignoreFetchAbort: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: (siteId, before) => ask(siteId, before),
  });
  const assetsMax = Math.floor((bytesMax * partOfSite) / weightPerAsset);
  let failedAt = Number.NEGATIVE_INFINITY;

  async function ask(siteId: string, before: History | undefined): Promise<History> {
    const askedAt = performance.now();
    const since = new Date(clock.now().getTime() - keptMs);
    const manifests = new Set(await database.manifestsSeenSince(siteId, since));
    // Where one fell out of the time, what it alone had is to go: then all are read again.
    const known = before && [...before.manifests].every((one) => manifests.has(one)) ? before : undefined;
    const unread = [...manifests].filter((one) => !known?.manifests.has(one));
    const assets = await readAssets(unread, known?.assets);
    const weight = 1024 + assets.size * weightPerAsset + manifests.size * weightPerManifest;
    return { askedAt, manifests, assets, weight };
  }

  /** Reads as many as there is room for, and adds those known. */
  async function readAssets(manifests: string[], known: Assets = new Map()): Promise<Assets> {
    if (manifests.length === 0) return known;
    const assets = new Map<string, ManifestFile>();
    for (const manifest of manifests) {
      await addAssets(assets, manifest).catch((err) =>
        log.error({ err, manifest }, 'an earlier version could not be read'),
      );
    }
    for (const [path, file] of known) add(assets, path, file);
    return assets;
  }

  async function addAssets(assets: Map<string, ManifestFile>, manifest: string): Promise<void> {
    if (assets.size >= assetsMax) return;
    const { files } = await readVersion(store, manifest);
    let read = 0;
    for (const file of files.within('_astro/')) {
      if (isHashedAsset(file.path)) add(assets, file.path, file);
      // However many there are, other requests come in between.
      if (++read % 500 === 0) await setImmediate();
    }
  }

  function add(assets: Map<string, ManifestFile>, path: string, file: ManifestFile): void {
    if (assets.size < assetsMax && !assets.has(path)) assets.set(path, file);
  }

  /**
   * What a question said that was asked at this time or later. An older answer would miss a version that went live since, which a
   * faster edge serves already.
   */
  async function historyAsOf(siteId: string, time: number): Promise<History | undefined> {
    const last = histories.get(siteId);
    const waitMs = last ? last.askedAt + askAgainAfterMs - performance.now() : 0;
    if (waitMs > 0) await setTimeout(waitMs);
    const known = histories.get(siteId);
    return known && known.askedAt >= time ? known : histories.fetch(siteId, { forceRefresh: true });
  }

  return {
    async find(siteId, path) {
      const arrived = performance.now();
      const asset = histories.get(siteId)?.assets.get(path);
      if (asset || arrived - failedAt < silentAfterFailureMs) return asset;
      try {
        return (await historyAsOf(siteId, arrived))?.assets.get(path);
      } catch (err) {
        failedAt = performance.now();
        log.error({ err, siteId }, 'earlier versions could not be asked for');
        return undefined;
      }
    },
  };
}
