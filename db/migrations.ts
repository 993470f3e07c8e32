/** The migrations in the order in which they run: one per capability, then those of later releases. */
import { Accounts } from './migrations/2026-11-22-accounts.ts';
import { Analytics } from './migrations/2026-11-22-analytics.ts';
import { Assets } from './migrations/2026-11-22-assets.ts';
import { Auth } from './migrations/2026-11-22-auth.ts';
import { Billing } from './migrations/2026-11-22-billing.ts';
import { Bookings } from './migrations/2026-11-22-bookings.ts';
import { Certificates } from './migrations/2026-11-22-certificates.ts';
import { Collaborators } from './migrations/2026-11-22-collaborators.ts';
import { Comments } from './migrations/2026-11-22-comments.ts';
import { Deployments } from './migrations/2026-11-22-deployments.ts';
import { Domains } from './migrations/2026-11-22-domains.ts';
import { Feedback } from './migrations/2026-11-22-feedback.ts';
import { Forms } from './migrations/2026-11-22-forms.ts';
import { Inbox } from './migrations/2026-11-22-inbox.ts';
import { Mail } from './migrations/2026-11-22-mail.ts';
import { Payments } from './migrations/2026-11-22-payments.ts';
import { Payouts } from './migrations/2026-11-22-payouts.ts';
import { Platform } from './migrations/2026-11-22-platform.ts';
import { Previews } from './migrations/2026-11-22-previews.ts';
import { Scanning } from './migrations/2026-11-22-scanning.ts';
import { Sites } from './migrations/2026-11-22-sites.ts';
import { Sketches } from './migrations/2026-11-22-sketches.ts';
import { BuildSlots } from './migrations/2026-11-23-build-slots.ts';
import { BuildTurns } from './migrations/2026-11-23-build-turns.ts';
import { Builders } from './migrations/2026-11-23-builders.ts';
import { CacheEpochs } from './migrations/2026-11-23-cache-epochs.ts';
import { DeclinedInvitations } from './migrations/2026-11-23-creds-declined-invitations.ts';
import { FormerNames } from './migrations/2026-11-23-creds-former-names.ts';
import { GitCredentials } from './migrations/2026-11-23-creds-git-credentials.ts';
import { FreeBookings } from './migrations/2026-11-23-free-bookings.ts';
import { History } from './migrations/2026-11-23-history.ts';
import { MadeBy } from './migrations/2026-11-23-made-by.ts';
import { MailLimits } from './migrations/2026-11-23-mail-limits.ts';
import { MissingProofs } from './migrations/2026-11-23-missing-proofs.ts';
import { OauthRepeats } from './migrations/2026-11-23-oauth-repeats.ts';
import { OwnerMails } from './migrations/2026-11-23-owner-mails.ts';
import { PendingAccessRequests } from './migrations/2026-11-23-pending-access-requests.ts';
import { TokenScopes } from './migrations/2026-11-23-token-scopes.ts';
import { AddressChanges } from './migrations/2026-11-24-address-changes.ts';
import { SiteDeletions } from './migrations/2026-11-24-ends-sites.ts';

/**
 * Append only. A migration of a released version never changes (test/upgrades): a restore compares the list by
 * position.
 */
export const migrationsList = [
  { name: '2026-11-22-accounts', class: Accounts },
  { name: '2026-11-22-inbox', class: Inbox },
  { name: '2026-11-22-platform', class: Platform },
  { name: '2026-11-22-sites', class: Sites },
  { name: '2026-11-22-auth', class: Auth },
  { name: '2026-11-22-deployments', class: Deployments },
  { name: '2026-11-22-previews', class: Previews },
  { name: '2026-11-22-mail', class: Mail },
  { name: '2026-11-22-collaborators', class: Collaborators },
  { name: '2026-11-22-assets', class: Assets },
  { name: '2026-11-22-comments', class: Comments },
  { name: '2026-11-22-forms', class: Forms },
  { name: '2026-11-22-payouts', class: Payouts },
  { name: '2026-11-22-payments', class: Payments },
  { name: '2026-11-22-bookings', class: Bookings },
  { name: '2026-11-22-domains', class: Domains },
  { name: '2026-11-22-certificates', class: Certificates },
  { name: '2026-11-22-billing', class: Billing },
  { name: '2026-11-22-analytics', class: Analytics },
  { name: '2026-11-22-feedback', class: Feedback },
  { name: '2026-11-22-sketches', class: Sketches },
  { name: '2026-11-22-scanning', class: Scanning },
  { name: '2026-11-23-builders', class: Builders },
  { name: '2026-11-23-oauth-repeats', class: OauthRepeats },
  { name: '2026-11-23-pending-access-requests', class: PendingAccessRequests },
  { name: '2026-11-23-missing-proofs', class: MissingProofs },
  { name: '2026-11-23-mail-limits', class: MailLimits },
  { name: '2026-11-23-build-slots', class: BuildSlots },
  { name: '2026-11-23-free-bookings', class: FreeBookings },
  { name: '2026-11-23-cache-epochs', class: CacheEpochs },
  { name: '2026-11-23-made-by', class: MadeBy },
  { name: '2026-11-23-creds-git-credentials', class: GitCredentials },
  { name: '2026-11-23-creds-declined-invitations', class: DeclinedInvitations },
  { name: '2026-11-23-token-scopes', class: TokenScopes },
  { name: '2026-11-23-creds-former-names', class: FormerNames },
  { name: '2026-11-23-build-turns', class: BuildTurns },
  { name: '2026-11-23-owner-mails', class: OwnerMails },
  { name: '2026-11-23-history', class: History },
  { name: '2026-11-24-ends-sites', class: SiteDeletions },
  { name: '2026-11-24-address-changes', class: AddressChanges },
];
