/** The activities of each task queue. */
import type { Deps } from '#runtime/deps.ts';
import { accessRequestActivities } from './access-requests.ts';
import { accountDeletionActivities } from './account-deletion.ts';
import { analyticsActivities } from './analytics.ts';
import { billingActivities } from './billing.ts';
import { bookingActivities } from './bookings.ts';
import { certificateActivities } from './certificates.ts';
import { domainActivities } from './domains.ts';
import { invitationActivities } from './invitations.ts';
import { ledgerActivities } from './ledger.ts';
import { mailActivities } from './mail.ts';
import { maintenanceActivities } from './maintenance.ts';
import { ownerMailActivities } from './owner-mails.ts';
import { refundActivities } from './payments/refunds.ts';
import { paymentActivities } from './payments.ts';
import { payoutActivities } from './payouts.ts';
import { previewActivities } from './previews.ts';
import type { BuilderDeps } from './publishing/deps.ts';
import { buildActivities, publishingActivities } from './publishing.ts';
import { reconciliationActivities } from './reconciliation.ts';
import { type BrowserDeps, browserActivities, renderingActivities } from './rendering.ts';
import { scanningActivities } from './scanning.ts';
import { siteDeletionActivities } from './site-deletion.ts';

export function createPlatformActivities(deps: Deps) {
  return {
    ...accessRequestActivities(deps),
    ...billingActivities(deps),
    ...bookingActivities(deps),
    ...analyticsActivities(deps),
    ...certificateActivities(deps),
    ...domainActivities(deps),
    ...invitationActivities(deps),
    ...mailActivities(deps),
    ...ownerMailActivities(deps),
    ...ledgerActivities(deps),
    ...paymentActivities(deps),
    ...refundActivities(deps),
    ...payoutActivities(deps),
    ...previewActivities(deps),
    ...publishingActivities(deps),
    ...reconciliationActivities(deps),
    ...maintenanceActivities(deps),
    ...renderingActivities(deps),
    ...scanningActivities(deps),
    ...accountDeletionActivities(deps),
    ...siteDeletionActivities(deps),
  };
}

export function createBuildActivities(deps: BuilderDeps) {
  return { ...buildActivities(deps) };
}

export function createBrowserActivities(deps: BrowserDeps) {
  return { ...browserActivities(deps) };
}

/** All activities, by name. */
export type Activities = ReturnType<typeof createPlatformActivities> &
  ReturnType<typeof createBuildActivities> &
  ReturnType<typeof createBrowserActivities>;
