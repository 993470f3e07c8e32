/** The reader's own sites that the operator has blocked; collaborators do not see them here. */
import { Site } from '#db/sites/site.ts';
import { itemsMax, type Source } from './item.ts';

export const blockedSites: Source = async (em, { accountId, siteIds }, since) => {
  const sites = await em.find(
    Site,
    { account: accountId, id: { $in: [...siteIds] }, blockedAt: { $gt: since } },
    { orderBy: { blockedAt: 'desc' }, limit: itemsMax },
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
