/**
 * Hashed assets of other versions than the served one. A page that was opened before a publish requests its own scripts and pictures
 * afterwards, and a page from an edge that updated earlier requests newer ones.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { EdgeDatabase } from '#edge/routing/database.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import type { Store } from '#providers/store/store.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { hashedFolders, isHashedAsset, mixedFolder } from './files.ts';
import { readVersion } from './versions.ts';

export type PreviousAssets = {
  /** The asset, if a version had it that was live in the last 30 days. Without the database: if it is in memory. */
  find(siteId: string, path: string): Promise<ManifestFile | undefined>;
};

type Assets = ReadonlyMap<string, ManifestFile>;
/** Assets of all the manifests; the newest version wins. */
type History = { queriedAt: number; manifests: ReadonlySet<string>; assets: Assets; weight: number };

const keptMs = 30 * dayMs;
// At most four queries per site and second, however many paths are missing. Requests in between wait for the next query.
const requeryAfterMs = 250;
const weightPerAsset = 400;
const weightPerManifest = 200;
const backOffMs = 1_000;
// One site uses at most this share of the cache: a site that does not fit would be read again for each missing path.
const shareOfSite = 1 / 2;

type Parts = { database: EdgeDatabase; store: Store; clock: Clock; log: Logger; bytesMax: number };

export function createPreviousAssets({ database, store, clock, log, bytesMax }: Parts): PreviousAssets {
  const histories = new LRUCache<string, History>({
    maxSize: bytesMax,
    sizeCalculation: (history) => history.weight,
    ignoreFetchAbort: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: (siteId, before) => query(siteId, before),
  });
  const assetsMax = Math.floor((bytesMax * shareOfSite) / weightPerAsset);
  let failedAt = Number.NEGATIVE_INFINITY;

  async function query(siteId: string, before: History | undefined): Promise<History> {
    const queriedAt = performance.now();
    const since = new Date(clock.now().getTime() - keptMs);
    const manifests = new Set(await database.manifestsSeenSince(siteId, since));
    // If a version expired, its own assets must go: all are read again.
    const known = before && [...before.manifests].every((one) => manifests.has(one)) ? before : undefined;
    const unread = [...manifests].filter((one) => !known?.manifests.has(one));
    const assets = await readAssets(unread, known?.assets);
    const weight = 1024 + assets.size * weightPerAsset + manifests.size * weightPerManifest;
    return { queriedAt, manifests, assets, weight };
  }

  /** Reads as many as fit, and adds the known ones. */
  async function readAssets(manifests: string[], known: Assets = new Map()): Promise<Assets> {
    if (manifests.length === 0) return known;
    const assets = new Map<string, ManifestFile>();
    for (const manifest of manifests) {
      await addAssets(assets, manifest).catch((err) =>
        log.error({ err, manifest }, 'the files of a previous version could not be read'),
      );
    }
    for (const [path, file] of known) add(assets, path, file);
    return assets;
  }

  async function addAssets(assets: Map<string, ManifestFile>, manifest: string): Promise<void> {
    if (assets.size >= assetsMax) return;
    const { files } = await readVersion(store, manifest);
    let read = 0;
    for (const folder of [...hashedFolders, mixedFolder]) {
      for (const file of files.within(folder)) {
        if (isHashedAsset(file.path)) add(assets, file.path, file);
        // Yields to other requests.
        if (++read % 500 === 0) await setImmediate();
      }
    }
  }

  function add(assets: Map<string, ManifestFile>, path: string, file: ManifestFile): void {
    if (assets.size < assetsMax && !assets.has(path)) assets.set(path, file);
  }

  /**
   * The result of a query from this time or later. An older one would miss a version that went live since and that another edge serves
   * already.
   */
  async function historyAsOf(siteId: string, time: number): Promise<History | undefined> {
    const last = histories.get(siteId);
    const waitMs = last ? last.queriedAt + requeryAfterMs - performance.now() : 0;
    if (waitMs > 0) await setTimeout(waitMs);
    const known = histories.get(siteId);
    return known && known.queriedAt >= time ? known : histories.fetch(siteId, { forceRefresh: true });
  }

  return {
    async find(siteId, path) {
      const arrived = performance.now();
      const asset = histories.get(siteId)?.assets.get(path);
      if (asset || arrived - failedAt < backOffMs) return asset;
      try {
        return (await historyAsOf(siteId, arrived))?.assets.get(path);
      } catch (err) {
        failedAt = performance.now();
        log.error({ err, siteId }, 'the previous versions of a site could not be queried');
        return undefined;
      }
    },
  };
}
