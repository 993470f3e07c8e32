/**
 * deleteSite: a site that its owner deletes, from the call until nothing of it is left but the receipts of others.
 *
 * Key: `site-deletion:<site>`. For 30 days the owner can restore the site: the row says until when, and `moved` makes this workflow read it.
 * It waits while the operator blocks the site. Then the purge removes its parts, one activity each, in an order in which a repetition finds what is left. Files that another site may
 * be about to use are tried again each day. If it is stuck, the last failure of its activity says why; if it is terminated, the hourly sweep
 * starts it again, and it continues.
 */
import { proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';
import { watchRow } from './watch-row.ts';

const { settleSiteDeletion, detachSite, forgetSite, finishSitePurge } = proxyActivities<Activities>(policies.quick);
const { collectSiteFiles, removeSiteRepositories, removeSiteFiles } = proxyActivities<Activities>(policies.purge);

const waits: Record<string, string> = {
  deleting: 'Waiting for 30 days; until then, the owner can restore the site.',
  blocked: 'Waiting until the operator unblocks the site.',
};

export async function deleteSite({ siteId }: { siteId: string }): Promise<{ status: string }> {
  const { status } = await watchRow(
    () => settleSiteDeletion.executeWithOptions({ summary: 'check whether the site was restored' }, [siteId]),
    (state) => waits[state] ?? state,
    { reopens: 'restored' },
  );
  if (status !== 'purging') return { status };
  setCurrentDetails('Removing the site.');
  await detachSite.executeWithOptions({ summary: 'detach its domains' }, [siteId]);
  await collectSiteFiles.executeWithOptions({ summary: 'list its files, remove its build caches' }, [siteId]);
  await forgetSite.executeWithOptions({ summary: 'delete its rows, except receipts' }, [siteId]);
  await removeSiteRepositories.executeWithOptions({ summary: 'delete its repositories' }, [siteId]);
  for (;;) {
    const left = await removeSiteFiles.executeWithOptions({ summary: 'delete files that nothing else names' }, [
      siteId,
    ]);
    if (left === 0) break;
    setCurrentDetails(`Waiting for a day: ${left} files were stored again recently.`);
    await sleep('1 day');
  }
  await finishSitePurge.executeWithOptions({ summary: 'record the end' }, [siteId]);
  return { status: 'purged' };
}
