/** The database: one list of entities, one list of migrations. */
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { connectionOptions } from './connections.ts';
import { AccessRequest } from './entities/access-request.ts';
import { Account } from './entities/account.ts';
import { Asset } from './entities/asset.ts';
import { Bookable, BookingCalendar } from './entities/bookable.ts';
import { Booking } from './entities/booking.ts';
import { BrowserSession } from './entities/browser-session.ts';
import { AcmeAccount, Certificate } from './entities/certificate.ts';
import { Collaborator } from './entities/collaborator.ts';
import { CommentMessage } from './entities/comment-message.ts';
import { CommentThread } from './entities/comment-thread.ts';
import { Deployment } from './entities/deployment.ts';
import { Domain, DomainRecord, DomainTombstone } from './entities/domain.ts';
import { EmailChange } from './entities/email-change.ts';
import { Feedback } from './entities/feedback.ts';
import { Flag } from './entities/flag.ts';
import { Form } from './entities/form.ts';
import { GitCredential } from './entities/git-credential.ts';
import { IdempotencyKey } from './entities/idempotency-key.ts';
import { Invitation } from './entities/invitation.ts';
import { LedgerFlag } from './entities/ledger-flag.ts';
import { Mail } from './entities/mail.ts';
import { OauthCode, OauthGrant, OauthRefresh } from './entities/oauth.ts';
import { OutboxEntry } from './entities/outbox-entry.ts';
import { Payment } from './entities/payment.ts';
import { PaymentAttempt } from './entities/payment-attempt.ts';
import { PayoutAccount } from './entities/payout-account.ts';
import { PayoutAgreement } from './entities/payout-agreement.ts';
import { PayoutOffer } from './entities/payout-offer.ts';
import { PayoutOnboarding } from './entities/payout-onboarding.ts';
import { Photo } from './entities/photo.ts';
import { BillingSubscription, PlanGrant } from './entities/plans.ts';
import { Preview } from './entities/preview.ts';
import { ReviewLink } from './entities/review-link.ts';
import { SigninLink } from './entities/signin-link.ts';
import { Site } from './entities/site.ts';
import { Sketch, SketchHost } from './entities/sketch.ts';
import { Submission } from './entities/submission.ts';
import { Token } from './entities/token.ts';
import { UploadLink } from './entities/upload-link.ts';
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
