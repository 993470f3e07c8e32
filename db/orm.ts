/** The database: one list of entities, one list of migrations. */
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { Account } from './accounts/account.ts';
import { EmailChange } from './accounts/email-change.ts';
import { Asset } from './assets/asset.ts';
import { Photo } from './assets/photo.ts';
import { UploadLink } from './assets/upload-link.ts';
import { AccessRequest } from './auth/access-request.ts';
import { BrowserSession } from './auth/browser-session.ts';
import { GitCredential } from './auth/git-credential.ts';
import { OauthCode, OauthGrant, OauthRefresh } from './auth/oauth-grant.ts';
import { SigninLink } from './auth/signin-link.ts';
import { Token } from './auth/token.ts';
import { BillingSubscription, PlanGrant } from './billing/subscription.ts';
import { Bookable, BookingCalendar } from './bookings/bookable.ts';
import { Booking } from './bookings/booking.ts';
import { AcmeAccount, Certificate } from './certificates/certificate.ts';
import { Collaborator } from './collaborators/collaborator.ts';
import { Invitation } from './collaborators/invitation.ts';
import { CommentMessage } from './comments/comment-message.ts';
import { CommentThread } from './comments/comment-thread.ts';
import { connectionOptions } from './connections.ts';
import { Deployment } from './deployments/deployment.ts';
import { Domain, DomainRecord, DomainTombstone } from './domains/domain.ts';
import { Feedback } from './feedback/feedback.ts';
import { Form } from './forms/form.ts';
import { Submission } from './forms/submission.ts';
import { IdempotencyKey } from './idempotency-key.ts';
import { Mail } from './mail/mail.ts';
import { Analytics } from './migrations/2026-11-21-analytics.ts';
import { Billing } from './migrations/2026-11-21-billing.ts';
import { BlockedSites } from './migrations/2026-11-21-blocked-sites.ts';
import { BookingNews } from './migrations/2026-11-21-booking-news.ts';
import { Bookings } from './migrations/2026-11-21-bookings.ts';
import { Capacity } from './migrations/2026-11-21-capacity.ts';
import { Certificates } from './migrations/2026-11-21-certificates.ts';
import { Collaborators } from './migrations/2026-11-21-collaborators.ts';
import { Comments } from './migrations/2026-11-21-comments.ts';
import { Domains } from './migrations/2026-11-21-domains.ts';
import { DomainsSince } from './migrations/2026-11-21-domains-since.ts';
import { Feedback as FeedbackMigration } from './migrations/2026-11-21-feedback.ts';
import { Forms } from './migrations/2026-11-21-forms.ts';
import { FormsTold } from './migrations/2026-11-21-forms-told.ts';
import { Inbox } from './migrations/2026-11-21-inbox.ts';
import { Initial } from './migrations/2026-11-21-initial.ts';
import { Mail as MailMigration } from './migrations/2026-11-21-mail.ts';
import { Material } from './migrations/2026-11-21-material.ts';
import { MoneyMended } from './migrations/2026-11-21-money.ts';
import { Oauth } from './migrations/2026-11-21-oauth.ts';
import { Output } from './migrations/2026-11-21-output.ts';
import { OutputLookedUp } from './migrations/2026-11-21-output-looked-up.ts';
import { PaymentsMigration } from './migrations/2026-11-21-payments.ts';
import { Payouts } from './migrations/2026-11-21-payouts.ts';
import { People } from './migrations/2026-11-21-people.ts';
import { PeopleLookedUp } from './migrations/2026-11-21-people-looked-up.ts';
import { Previews } from './migrations/2026-11-21-previews.ts';
import { BuiltAnew } from './migrations/2026-11-21-speed.ts';
import { TokensForgotten } from './migrations/2026-11-21-tokens-forgotten.ts';
import { AccountBlocks } from './migrations/2026-11-22-account-blocks.ts';
import { Flags } from './migrations/2026-11-22-flags.ts';
import { IdempotencyLeases } from './migrations/2026-11-22-idempotency-leases.ts';
import { ScansWhole } from './migrations/2026-11-22-scans-whole.ts';
import { OutboxEntry } from './outbox-entry.ts';
import { LedgerFlag } from './payments/ledger-flag.ts';
import { Payment } from './payments/payment.ts';
import { PaymentAttempt } from './payments/payment-attempt.ts';
import { PayoutAccount } from './payouts/payout-account.ts';
import { PayoutAgreement } from './payouts/payout-agreement.ts';
import { PayoutOffer } from './payouts/payout-offer.ts';
import { PayoutOnboarding } from './payouts/payout-onboarding.ts';
import { Preview } from './previews/preview.ts';
import { ReviewLink } from './previews/review-link.ts';
import { Flag } from './scanning/flag.ts';
import { Site } from './sites/site.ts';
import { Sketch, SketchHost } from './sketches/sketch.ts';

export type { EntityManager, MikroORM };

/**
 * Opens the database with a pool of `poolMax` connections. Connects at the first use. With `patienceMs` no statement runs for longer, and a
 * connection over which nothing comes for as long while it is asked something is given up.
 */
export function openOrm(
  databaseUrl: string,
  options: { poolMax?: number; lockTimeoutMs?: number; patienceMs?: number } = {},
): MikroORM {
  return new MikroORM(
    defineConfig({
      clientUrl: databaseUrl,
      entities: [
        Account,
        Token,
        BillingSubscription,
        PlanGrant,
        AccessRequest,
        SigninLink,
        BrowserSession,
        EmailChange,
        Site,
        Sketch,
        SketchHost,
        Deployment,
        Preview,
        GitCredential,
        OutboxEntry,
        IdempotencyKey,
        Mail,
        Collaborator,
        Invitation,
        Feedback,
        Asset,
        UploadLink,
        Photo,
        CommentThread,
        CommentMessage,
        ReviewLink,
        Form,
        Submission,
        Bookable,
        BookingCalendar,
        Booking,
        Payment,
        PaymentAttempt,
        LedgerFlag,
        Flag,
        PayoutAccount,
        PayoutOnboarding,
        PayoutOffer,
        PayoutAgreement,
        Domain,
        DomainRecord,
        DomainTombstone,
        Certificate,
        AcmeAccount,
        OauthGrant,
        OauthCode,
        OauthRefresh,
      ],
      extensions: [Migrator],
      migrations: {
        // Only ever appended to, and none is edited once a release has it (test/upgrades): a restore compares by position.
        migrationsList: [
          { name: '2026-11-21-initial', class: Initial },
          { name: '2026-11-21-mail', class: MailMigration },
          { name: '2026-11-21-output', class: Output },
          { name: '2026-11-21-collaborators', class: Collaborators },
          { name: '2026-11-21-material', class: Material },
          { name: '2026-11-21-people', class: People },
          { name: '2026-11-21-capacity', class: Capacity },
          { name: '2026-11-21-speed', class: BuiltAnew },
          { name: '2026-11-21-people-looked-up', class: PeopleLookedUp },
          { name: '2026-11-21-tokens-forgotten', class: TokensForgotten },
          { name: '2026-11-21-forms', class: Forms },
          { name: '2026-11-21-inbox', class: Inbox },
          { name: '2026-11-21-bookings', class: Bookings },
          { name: '2026-11-21-comments', class: Comments },
          { name: '2026-11-21-previews', class: Previews },
          { name: '2026-11-21-output-looked-up', class: OutputLookedUp },
          { name: '2026-11-21-analytics', class: Analytics },
          { name: '2026-11-21-booking-news', class: BookingNews },
          { name: '2026-11-21-forms-told', class: FormsTold },
          { name: '2026-11-21-feedback', class: FeedbackMigration },
          { name: '2026-11-21-payouts', class: Payouts },
          { name: '2026-11-21-domains', class: Domains },
          { name: '2026-11-21-certificates', class: Certificates },
          { name: '2026-11-21-billing', class: Billing },
          { name: '2026-11-21-payments', class: PaymentsMigration },
          { name: '2026-11-21-money', class: MoneyMended },
          { name: '2026-11-21-blocked-sites', class: BlockedSites },
          { name: '2026-11-21-domains-since', class: DomainsSince },
          { name: '2026-11-21-oauth', class: Oauth },
          { name: '2026-11-22-account-blocks', class: AccountBlocks },
          { name: '2026-11-22-flags', class: Flags },
          { name: '2026-11-22-scans-whole', class: ScansWhole },
          { name: '2026-11-22-idempotency-leases', class: IdempotencyLeases },
        ],
        snapshot: false,
        transactional: true,
        // Each by itself: none holds its tables for those after it.
        allOrNothing: false,
      },
      pool: { min: 0, max: options.poolMax ?? 10 },
      driverOptions: connectionOptions(options),
      forceUtcTimezone: true,
      // It would write to the terminal of whoever starts us; who migrates is told what ran.
      logger: () => {},
    }),
  );
}
