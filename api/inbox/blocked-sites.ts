/** The reader's own sites that the operator has blocked; collaborators do not see them here. */
import { Site } from '#db/sites/site.ts';
import { unfinished } from './done.ts';
import type { Source } from './item.ts';

export const blockedSites: Source = async (em, { accountId, siteIds }, since, { limit }) => {
  const sites = await em.find(
    Site,
    {
      account: accountId,
      id: { $in: [...siteIds] },
      blockedAt: { $gt: since },
      [unfinished(accountId, { kind: 'blocked_site', at: 'blocked_at' })]: [],
    },
    { orderBy: { blockedAt: 'desc' }, limit },
  );
  return sites.map(({ id, name, blockedAt, blockReason }) => ({
    kind: 'blocked_site',
    id,
    site: { id, name },
    at: blockedAt as Date,
    title: `The site ${name} has been blocked by the operator.`,
    message: blockReason as string,
    nextAction: 'Tell the owner the reason. They need to fix the problem and ask the operator to review the site.',
  }));
};
