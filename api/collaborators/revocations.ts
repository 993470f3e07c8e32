/**
 * Everything that is revoked together with a collaborator's access to a site, in the same transaction. Add a revocation
 * here for each resource of a site that works without its creator's token.
 */

import { revokeReviewsOf } from '#api/review-links/links.ts';
import { revokeLinksOf } from '#api/upload-links/links.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import { revokeFeedsOf } from '#db/calendar-feeds/calendar-feed.ts';
import type { EntityManager } from '#db/orm.ts';

export type Leaving = { siteId: string; accountId: string; now: Date };

/** By their names in the response. Each revokes what the account created on the site, and returns the count. */
export const revocations: Readonly<Record<string, (tx: EntityManager, leaving: Leaving) => Promise<number>>> = {
  git_credentials: (tx, { siteId, accountId }) => tx.nativeDelete(GitCredential, { site: siteId, account: accountId }),
  upload_links: revokeLinksOf,
  review_links: revokeReviewsOf,
  calendar_feeds: revokeFeedsOf,
};

export async function revokeAll(tx: EntityManager, leaving: Leaving): Promise<Record<string, number>> {
  const ended: Record<string, number> = {};
  for (const [name, end] of Object.entries(revocations)) ended[name] = await end(tx, leaving);
  return ended;
}
