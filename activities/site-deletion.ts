/** The activities of `deleteSite`. Each can run twice, and none does anything to a site whose purge has not begun. */
import { Context } from '@temporalio/activity';
import { removeAlone } from '#db/removal-lock.ts';
import { finishPurge, settleDeletion } from '#db/sites/deletion.ts';
import { buildImagesOf, detachSiteDomains, isPurging, removeSiteRows } from '#db/sites/purge.ts';
import { listAllFiles, recordPurgeBlobs, removePurgeBlobs } from '#db/sites/purge-files.ts';
import type { Deps } from '#runtime/deps.ts';
import { cacheNames } from './publishing/cache.ts';

export function siteDeletionActivities(deps: Deps) {
  const { clock, store } = deps;
  const heartbeat = () => {
    const context = Context.current();
    context.cancellationSignal.throwIfAborted();
    context.heartbeat();
  };
  const purge = async (siteId: string, act: () => Promise<unknown>): Promise<void> => {
    if (!(await isPurging(deps.em(), siteId))) throw new Error('the purge of this site has not begun');
    await act();
  };

  return {
    settleSiteDeletion: (siteId: string) => settleDeletion(deps.em(), clock, siteId),

    detachSite: (siteId: string) => purge(siteId, () => detachSiteDomains(deps.em(), clock, siteId)),

    /** While rows still name them: the site's files, for `removeSiteFiles`, and the caches of its builds. */
    collectSiteFiles: (siteId: string) =>
      purge(siteId, async () => {
        for (const image of await buildImagesOf(deps.em(), siteId))
          for (const name of Object.values(cacheNames({ site: siteId, image }))) await store.caches.remove(name);
        await recordPurgeBlobs(deps.em(), store, siteId, heartbeat);
      }),

    forgetSite: (siteId: string) => purge(siteId, () => removeSiteRows(deps.em(), clock, siteId)),

    removeSiteRepositories: (siteId: string) =>
      purge(siteId, () => removeAlone(deps.em(), async () => deps.repositories?.remove(siteId))),

    /** Returns how many files have to be tried again later. */
    async removeSiteFiles(siteId: string): Promise<number> {
      await listAllFiles(deps.em(), store, heartbeat);
      return await removePurgeBlobs(deps.em(), store, siteId, heartbeat);
    },

    finishSitePurge: (siteId: string) => finishPurge(deps.em(), clock, siteId),
  };
}
