/**
 * What ends with a collaborator's right to a site, besides the right itself, in the one transaction that ends it. A part that lets an
 * account make something on a site that works without its token adds an ending here.
 */

import { revokeReviewsOf } from '#api/review-links/links.ts';
import { revokeLinksOf } from '#api/uploads/links.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import type { EntityManager } from '#db/orm.ts';

export type Leaving = { siteId: string; accountId: string; now: Date };

/** By what they are called in the answer: each ends what the account has made on the site, and answers how many. */
export const revocations: Readonly<Record<string, (tx: EntityManager, leaving: Leaving) => Promise<number>>> = {
  git_credentials: (tx, { siteId, accountId }) => tx.nativeDelete(GitCredential, { site: siteId, account: accountId }),
  upload_links: revokeLinksOf,
  review_links: revokeReviewsOf,
};

export async function revokeAll(tx: EntityManager, leaving: Leaving): Promise<Record<string, number>> {
  const ended: Record<string, number> = {};
  for (const [name, end] of Object.entries(revocations)) ended[name] = await end(tx, leaving);
  return ended;
}
