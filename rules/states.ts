/** The states of all records, and functions about them. Pure. */
import { dayMs } from './time.ts';

export type SiteStatus = 'active' | 'archived';

/** The kinds in the API, where a draft is a `preview` too. */
export const publicDeploymentKinds = ['site', 'posts', 'upload', 'preview'] as const;
/**
 * `draft`: the build of a preview slot, served on the slot's own host. `preview`: the publish of a slot, which makes a
 * draft's files live.
 */
export type DeploymentKind = (typeof publicDeploymentKinds)[number] | 'draft';

export function publicDeploymentKind(kind: DeploymentKind): (typeof publicDeploymentKinds)[number] {
  return kind === 'draft' ? 'preview' : kind;
}

/** Kinds that are built from git and then go live. A site builds one at a time. */
export const publishKinds = ['site', 'posts'] as const satisfies DeploymentKind[];
/** Kinds that are built. */
export const buildKinds = [...publishKinds, 'draft'] as const satisfies DeploymentKind[];

export const deploymentStatuses = [
  'uploading',
  'queued',
  'building',
  'storing',
  'ready',
  'live',
  'retired',
  'superseded',
  'failed',
  'cancelled',
] as const;
export type DeploymentStatus = (typeof deploymentStatuses)[number];

/** The deployment's workflow still has work to do. */
export const unfinishedStatuses = ['queued', 'building', 'storing'] as const satisfies DeploymentStatus[];

/** Versions that are served: to visitors, or on the host of a preview slot. */
export const shownStatuses = ['live', 'ready'] as const satisfies DeploymentStatus[];

/** Whether the status changes no more without a call. */
export function isSettled(status: DeploymentStatus): boolean {
  return !(unfinishedStatuses as readonly DeploymentStatus[]).includes(status) && status !== 'uploading';
}

/** How long a draft is served after its build, and how long an expired one is marked before it is removed. */
export const previewKeptMs = 14 * dayMs;
export const previewMarkedMs = 7 * dayMs;

/** The state of a draft at a given time, recorded or not. `removed`: its slot is empty. */
export type DraftStatus = 'shown' | 'expired' | 'removed';
export function draftStatusAt(
  { expiresAt, removedAt }: { expiresAt?: Date | null | undefined; removedAt?: Date | null | undefined },
  now: Date,
): DraftStatus {
  if (removedAt) return 'removed';
  if (!expiresAt || now < expiresAt) return 'shown';
  return now.getTime() < expiresAt.getTime() + previewMarkedMs ? 'expired' : 'removed';
}

/** Whether the deployment is or was live: its files are stored for ever. */
export function isRestorable({ status }: { status: DeploymentStatus }): boolean {
  return status === 'live' || status === 'retired';
}

/** `queued` until a mail server accepts it or sending is abandoned. */
export type MailStatus = 'queued' | 'sent' | 'failed';

export type InvitationStatus = 'open' | 'accepted' | 'withdrawn' | 'expired';

/** The status at this time: an overdue invitation is expired, even if that is not recorded yet. `declined`: withdrawn by the invited person. */
export function invitationStatusAt(
  {
    status,
    expiresAt,
    declinedAt,
  }: { status: InvitationStatus; expiresAt: Date; declinedAt?: Date | null | undefined },
  now: Date,
): InvitationStatus | 'declined' {
  if (declinedAt) return 'declined';
  return status === 'open' && expiresAt <= now ? 'expired' : status;
}

export type Role = 'owner' | 'collaborator';

export type Repository = 'source' | 'content';
export type GitAccess = 'read' | 'write';

/** How a file was added to a site without git. */
export type AssetSource = 'api' | 'photo' | 'upload_link';
/** `approved`: waits for the agent. `redeemed`: a token was issued. `expired`: also if a newer request replaced it. */
export type AccessRequestStatus = 'pending' | 'approved' | 'denied' | 'redeemed' | 'expired';

/** The status at this time: an overdue request is expired, even if that is not recorded yet. */
export function accessRequestStatusAt(
  { status, expiresAt }: { status: AccessRequestStatus; expiresAt: Date },
  now: Date,
): AccessRequestStatus {
  return (status === 'pending' || status === 'approved') && expiresAt <= now ? 'expired' : status;
}

/** `ended`: withdrawn, stopped, undone, replaced by a later one, or no longer possible when it was confirmed. */
export type EmailChangeStatus = 'pending' | 'confirmed' | 'ended';

export type FormStatus = 'enabled' | 'disabled';

/** The kinds of fields in a form or a booking's intake. */
export const fieldKinds = [
  'text',
  'email',
  'tel',
  'url',
  'textarea',
  'number',
  'date',
  'select',
  'radio',
  'checkbox',
  'checkboxes',
  'hidden',
] as const;
export type FieldKind = (typeof fieldKinds)[number];

export const bookingStatuses = ['held', 'confirmed', 'cancelled', 'expired'] as const;
export type BookingStatus = (typeof bookingStatuses)[number];

/**
 * The status at this time: an overdue hold is expired, even if that is not recorded yet. While a checkout session may
 * be open (`paying`), the hold lasts longer.
 */
export function bookingStatusAt(
  {
    status,
    holdExpiresAt,
    paying,
  }: { status: BookingStatus; holdExpiresAt?: Date | null | undefined; paying: boolean },
  now: Date,
): BookingStatus {
  return status === 'held' && !paying && holdExpiresAt && holdExpiresAt <= now ? 'expired' : status;
}

export const domainModes = ['nameservers', 'cname'] as const;
/** Where the zone is hosted: by the service, or by the owner's DNS with records that point here. */
export type DomainMode = (typeof domainModes)[number];

export const domainStatuses = ['pending', 'active', 'Moved', 'Deleted', 'Blocked'] as const;
export type DomainStatus = (typeof domainStatuses)[number];

/** Whether the account owns the name: proved and not lost. For other accounts the name is taken. */
export function ownsName({ status, provedAt }: { status: DomainStatus; provedAt?: Date | null | undefined }): boolean {
  return Boolean(provedAt) && status !== 'Deleted';
}

export const servedStatuses = ['active', 'Moved'] as const satisfies readonly DomainStatus[];
/** Whether edges serve the attached site; also while the domain points elsewhere (`Moved`). */
export function isServed({ status }: { status: DomainStatus }): boolean {
  return (servedStatuses as readonly DomainStatus[]).includes(status);
}

export const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'CAA', 'NS'] as const;
export type RecordType = (typeof recordTypes)[number];
/**
 * `open`: the checkout session is not paid; `expired`: it ended unpaid. `active` and `past_due` are in force. `ending`:
 * no longer in force, but not yet ended at the provider.
 */
export type SubscriptionStatus = 'open' | 'expired' | 'active' | 'past_due' | 'ending' | 'ended';
export const isSubscriptionSettled = (status: SubscriptionStatus) => status === 'expired' || status === 'ended';
export const subscriptionsInForce = ['active', 'past_due'] as const satisfies SubscriptionStatus[];
export const isSubscriptionInForce = (status: SubscriptionStatus) =>
  (subscriptionsInForce as readonly SubscriptionStatus[]).includes(status);

export const commentStatuses = ['open', 'resolved'] as const;
export type CommentStatus = (typeof commentStatuses)[number];

/** The author of a message: an agent with a token, or a person in a browser. */
export type AuthorKind = 'owner' | 'collaborator' | 'agent';

/**
 * The position of a thread on its page. After a rebuild it is found by the selector, else by the quote. `x` and `y` are
 * CSS pixels from the page's top left at the time of writing; `within` is the position inside the selected element, as
 * fractions of its size.
 */
export type CommentPosition = {
  selector: string | null;
  quote: string | null;
  x: number | null;
  y: number | null;
  within: { x: number; y: number } | null;
  viewport: { width: number; height: number } | null;
};

/**
 * `own_key`: a key of the owner's own account with the provider. `connect`: an account that the platform creates there
 * for the owner.
 */
export const payoutRails = ['own_key', 'connect'] as const;
export type PayoutRail = (typeof payoutRails)[number];

/** `pending`: the provider does not allow it to accept payments yet. `gone`: removed, and its key destroyed. */
export type PayoutAccountStatus = 'ready' | 'pending' | 'gone';

/** The two parties of an agreement about a site's payments. */
export type PayoutParty = 'site' | 'payout_account';

export type PayoutOfferStatus = 'open' | 'accepted' | 'expired' | 'withdrawn';

/** The status at this time: an overdue offer is expired, even if that is not recorded yet. */
export function payoutOfferStatusAt(
  { status, expiresAt }: { status: PayoutOfferStatus; expiresAt: Date },
  now: Date,
): PayoutOfferStatus {
  return status === 'open' && expiresAt <= now ? 'expired' : status;
}
/** The status of the current order. A certificate in use is unaffected and has its own expiry: see `sslOf`. */
export type CertificateStatus = 'pending' | 'validating' | 'issuing' | 'active' | 'failed';
/** The party that can fix a certificate's problem. */
export type ProblemOf = 'owner' | 'platform';

/** `refunding`: the refund is not complete yet. */
export const paymentStatuses = ['open', 'paid', 'refunding', 'refunded', 'expired'] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** The status at this time: an overdue payment is expired, even if that is not recorded yet. */
export function paymentStatusAt(
  { status, expiresAt }: { status: PaymentStatus; expiresAt: Date },
  now: Date,
): PaymentStatus {
  return status === 'open' && expiresAt <= now ? 'expired' : status;
}

/**
 * A checkout session. `minting`: being created. `open`: may be paid. `closed`: can no longer be paid. `unasked`: it
 * ended long ago, but the provider could not be queried about its outcome.
 */
export type AttemptStatus = 'minting' | 'open' | 'closed' | 'paid' | 'unasked';
/** Sessions that may still be paid, as far as we know. */
export const unsettledAttempts = ['minting', 'open'] as const satisfies AttemptStatus[];
/** Sessions that may still produce a charge: unsettled ones, and those with an unknown outcome. */
export const unknownAttempts = [...unsettledAttempts, 'unasked'] as const satisfies AttemptStatus[];

/**
 * Why a charge is refunded: on request, because its booking was cancelled, because the payment was already paid, or
 * because the seat was taken.
 */
export type RefundReason = 'asked' | 'cancelled' | 'second' | 'late';
