/** All sources of the inbox, one for each kind. */
import { blockedSites } from './blocked-sites.ts';
import { waitingDomains } from './domains.ts';
import { failedBuilds } from './failed-builds.ts';
import { openInvitations } from './invitations.ts';
import type { Source } from './item.ts';
import { newBookings } from './new-bookings.ts';
import { newSubmissions } from './new-submissions.ts';
import { openComments } from './open-comments.ts';
import { payoutOffers } from './payout-offers.ts';

export const sources: readonly Source[] = [
  failedBuilds,
  openInvitations,
  openComments,
  payoutOffers,
  newBookings,
  newSubmissions,
  waitingDomains,
  blockedSites,
];
