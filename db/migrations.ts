/** The migrations of the database, in files of these names. */
import type { MigrationObject } from '@mikro-orm/core';

/**
 * Append only. A migration of a released version never changes (test/upgrades): a restore compares the list by
 * position.
 */
export const knownMigrations: readonly string[] = [
  '2026-11-22-accounts',
  '2026-11-22-inbox',
  '2026-11-22-platform',
  '2026-11-22-sites',
  '2026-11-22-auth',
  '2026-11-22-deployments',
  '2026-11-22-previews',
  '2026-11-22-mail',
  '2026-11-22-collaborators',
  '2026-11-22-assets',
  '2026-11-22-comments',
  '2026-11-22-forms',
  '2026-11-22-payouts',
  '2026-11-22-payments',
  '2026-11-22-bookings',
  '2026-11-22-domains',
  '2026-11-22-certificates',
  '2026-11-22-billing',
  '2026-11-22-analytics',
  '2026-11-22-feedback',
  '2026-11-22-sketches',
  '2026-11-22-scanning',
  '2026-11-23-builders',
  '2026-11-23-oauth-repeats',
  '2026-11-23-pending-access-requests',
  '2026-11-23-missing-proofs',
  '2026-11-23-mail-limits',
  '2026-11-23-build-slots',
  '2026-11-23-free-bookings',
  '2026-11-23-cache-epochs',
  '2026-11-23-made-by',
  '2026-11-23-creds-git-credentials',
  '2026-11-23-creds-declined-invitations',
  '2026-11-23-token-scopes',
  '2026-11-23-creds-former-names',
  '2026-11-23-build-turns',
  '2026-11-23-owner-mails',
  '2026-11-23-history',
  '2026-11-24-ends-sites',
  '2026-11-24-address-changes',
  '2026-11-24-goodbye-accounts',
  '2026-11-24-owner-bookings',
  '2026-11-23-signin-codes',
  '2026-11-23-signin-refused-calls',
  '2026-11-24-token-rotations',
  '2026-11-23-money23-descriptions',
  '2026-11-23-money23-refunds',
  '2026-11-25-form-texts',
  '2026-11-23-visit23-prepared-mails',
  '2026-11-23-visit23-prices',
  '2026-11-23-visit23-places',
  '2026-11-23-money23-closing',
  '2026-11-23-money23-failed-refunds',
  '2026-11-25-inbox-done',
  '2026-11-23-tidy22-deleted-with-account',
  '2026-11-24-owner-calendar-feeds',
  '2026-11-25-fixa-acknowledgements',
  '2026-11-26-book23-reply-to',
  '2026-11-26-mails23a-mail-choices',
  '2026-11-26-inbox23-kinds',
  '2026-11-26-mails23b-periodic-mails',
  '2026-11-26-page23-page-colors',
  '2026-11-26-acc22-accepted-pushes',
  '2026-11-26-dom23-domain-mails',
  '2026-11-26-moves23-moved-by',
  '2026-11-27-senders-moves-copies',
  '2026-11-27-comments-mailed-again',
  '2026-11-27-live-spans',
  '2026-11-27-feedback-answers',
  '2026-11-27-comments-author-names',
  '2026-11-27-eyes-renderings',
  '2026-11-27-published-pushes',
  '2026-11-27-commits-by-calls',
  '2026-11-27-eyes-comparisons',
  '2026-11-27-planned-clears',
  '2026-11-27-onboarding-made-by',
];

/** Loads their classes; each file exports one. Only a database that lacks some needs them. */
export async function loadMigrations(): Promise<MigrationObject[]> {
  const load = async (name: string) => {
    const exported: Record<string, MigrationObject['class']> = await import(`./migrations/${name}.ts`);
    return Object.values(exported).map((found) => ({ name, class: found }));
  };
  return (await Promise.all(knownMigrations.map(load))).flat();
}
