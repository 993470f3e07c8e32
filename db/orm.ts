/** The database connection, and the list of entities. */
import { defineConfig, type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql';
import { Account } from './accounts/account.ts';
import { AddressLink } from './accounts/address-link.ts';
import { AccountDeletionCode } from './accounts/deletion-code.ts';
import { EmailChange } from './accounts/email-change.ts';
import { Asset } from './assets/asset.ts';
import { Photo } from './assets/photo.ts';
import { UploadLink } from './assets/upload-link.ts';
import { AccessRequest } from './auth/access-request.ts';
import { BrowserSession } from './auth/browser-session.ts';
import { GitCredential } from './auth/git-credential.ts';
import { OauthCode, OauthGrant, OauthRefresh } from './auth/oauth-grant.ts';
import { RefusedCall } from './auth/refused-call.ts';
import { SigninLink } from './auth/signin-link.ts';
import { Token } from './auth/token.ts';
import { BillingSubscription, PlanGrant } from './billing/subscription.ts';
import { Bookable, BookingCalendar } from './bookings/bookable.ts';
import { Booking } from './bookings/booking.ts';
import { PreparedMail } from './bookings/prepared-mails.ts';
import { CalendarFeed } from './calendar-feeds/calendar-feed.ts';
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
import { HistoryEntry } from './history/history-entry.ts';
import { IdempotencyKey } from './idempotency-key.ts';
import { Mail } from './mail/mail.ts';
import { OutboxEntry } from './outbox-entry.ts';
import { LedgerFlag } from './payments/ledger-flag.ts';
import { Payment } from './payments/payment.ts';
import { PaymentAttempt } from './payments/payment-attempt.ts';
import { PaymentRefund } from './payments/payment-refund.ts';
import { PayoutAccount } from './payouts/payout-account.ts';
import { PayoutAgreement } from './payouts/payout-agreement.ts';
import { PayoutOffer } from './payouts/payout-offer.ts';
import { PayoutOnboarding } from './payouts/payout-onboarding.ts';
import { Preview } from './previews/preview.ts';
import { Rendering, RenderingPicture } from './renderings/rendering.ts';
import { ReviewLink } from './review-links/review-link.ts';
import { Flag } from './scanning/flag.ts';
import { Site } from './sites/site.ts';
import { Sketch, SketchHost } from './sketches/sketch.ts';

export type { EntityManager, MikroORM };

/**
 * Opens the database with a pool of `poolMax` connections; it connects at the first use. With `statementTimeoutMs`, statements
 * have that time limit, and a connection that stays silent for as long during a query is closed. `more` is for MikroORM itself.
 */
export function openOrm(
  databaseUrl: string,
  options: { poolMax?: number; lockTimeoutMs?: number | undefined; statementTimeoutMs?: number } = {},
  more: Pick<Options, 'extensions' | 'migrations'> = {},
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
        RefusedCall,
        SigninLink,
        BrowserSession,
        EmailChange,
        AddressLink,
        AccountDeletionCode,
        Site,
        Sketch,
        SketchHost,
        Deployment,
        Preview,
        Rendering,
        RenderingPicture,
        GitCredential,
        OutboxEntry,
        IdempotencyKey,
        HistoryEntry,
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
        CalendarFeed,
        Form,
        Submission,
        Bookable,
        BookingCalendar,
        Booking,
        PreparedMail,
        Payment,
        PaymentAttempt,
        PaymentRefund,
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
      ...more,
      pool: { min: 0, max: options.poolMax ?? 10 },
      driverOptions: connectionOptions(options),
      forceUtcTimezone: true,
      // It defines accessors for each property of each row, which is 40 % of the time of reading 50 rows. Without it, changed
      // relations do not reach the same row in the parent of a transaction that was cleared.
      propagationOnPrototype: false,
      // It would write to the terminal of the calling process; callers report the migrations themselves.
      logger: () => {},
    }),
  );
}
