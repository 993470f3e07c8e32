/** All sources of the inbox, one for each kind. */
import { acceptedInvitations } from './accepted-invitations.ts';
import { arrivedPhotos } from './arrived-photos.ts';
import { blockedSites } from './blocked-sites.ts';
import { chosenSketches } from './chosen-sketches.ts';
import { collaboratorVersions } from './collaborator-versions.ts';
import { waitingDomains } from './domains.ts';
import { endedAgreements } from './ended-agreements.ts';
import { failedBuilds } from './failed-builds.ts';
import { openInvitations } from './invitations.ts';
import type { CodeSource, Source } from './item.ts';
import { openComments } from './open-comments.ts';
import { failedRefunds, recentPayments } from './payments.ts';
import { payoutOffers } from './payout-offers.ts';
import { pushedVersions } from './pushed-versions.ts';
import { recentBookings } from './recent-bookings.ts';
import { recentSubmissions } from './recent-submissions.ts';
import { refusedCalls } from './refused-calls.ts';

export const sources: readonly Source[] = [
  failedBuilds,
  openInvitations,
  openComments,
  payoutOffers,
  recentBookings,
  recentPayments,
  failedRefunds,
  recentSubmissions,
  blockedSites,
  arrivedPhotos,
  chosenSketches,
  collaboratorVersions,
  pushedVersions,
  acceptedInvitations,
  endedAgreements,
];

export const codeSources: readonly CodeSource[] = [waitingDomains, refusedCalls];
