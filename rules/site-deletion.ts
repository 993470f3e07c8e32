/** The states of a site under deletion. Pure. */
import type { SiteStatus } from './states.ts';

/** The statuses in the API. A site under deletion is archived, and has a date when it is deleted for good. */
export const publicSiteStatuses = ['active', 'archived', 'deleting'] as const;
export type PublicSiteStatus = (typeof publicSiteStatuses)[number];

export function publicSiteStatus({
  status,
  deleteAt,
}: {
  status: SiteStatus;
  deleteAt?: Date | null | undefined;
}): PublicSiteStatus {
  return deleteAt ? 'deleting' : status;
}
