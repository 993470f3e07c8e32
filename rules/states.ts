/** The states of the records, as unions in one place, with the questions asked of them. Pure. */
import { dayMs } from './time.ts';

export type SiteStatus = 'active' | 'archived';

/** What the API calls the kinds: there, a draft is a `preview` too. */
export const publicDeploymentKinds = ['site', 'posts', 'upload', 'preview'] as const;
/** `draft`: the build of a preview slot, for the slot's own host. `preview`: the publish of a slot, which puts a draft's files live. */
export type DeploymentKind = (typeof publicDeploymentKinds)[number] | 'draft';

export function publicDeploymentKind(kind: DeploymentKind): (typeof publicDeploymentKinds)[number] {
  return kind === 'draft' ? 'preview' : kind;
}

/** Kinds that are built from git and go live when they are built. A site builds one of them at a time. */
export const publishKinds = ['site', 'posts'] as const satisfies DeploymentKind[];

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

/** A deployment whose workflow still has work to do. */
export const unfinishedStatuses = ['queued', 'building', 'storing'] as const satisfies DeploymentStatus[];

/** Whether the deployment will change no more by itself. */
export function isSettled(status: DeploymentStatus): boolean {
  return !(unfinishedStatuses as readonly DeploymentStatus[]).includes(status) && status !== 'uploading';
}

/** How long a draft is kept after its build, and how long it is then marked before it is removed. */
export const previewKeptMs = 14 * dayMs;
export const previewMarkedMs = 7 * dayMs;

/** A draft at this moment: its ends hold whether or not somebody has written them down. `removed` has left its slot empty. */
export type DraftStatus = 'shown' | 'expired' | 'removed';
export function draftStatusAt(
  { expiresAt, removedAt }: { expiresAt?: Date | null | undefined; removedAt?: Date | null | undefined },
  now: Date,
): DraftStatus {
  if (removedAt) return 'removed';
  if (!expiresAt || now < expiresAt) return 'shown';
  return now.getTime() < expiresAt.getTime() + previewMarkedMs ? 'expired' : 'removed';
}

/** Whether the deployment was or is live: its bytes are kept for ever. */
export function isRestorable({ status }: { status: DeploymentStatus }): boolean {
  return status === 'live' || status === 'retired';
}

/** `queued` until a mail server has taken it or it is given up. */
export type MailStatus = 'queued' | 'sent' | 'failed';

export type InvitationStatus = 'open' | 'accepted' | 'withdrawn' | 'expired';

/** What the invitation is at this moment: its end holds whether or not somebody has written it down. */
export function invitationStatusAt(
  { status, expiresAt }: { status: InvitationStatus; expiresAt: Date },
  now: Date,
): InvitationStatus {
  return status === 'open' && expiresAt <= now ? 'expired' : status;
}

export type Role = 'owner' | 'collaborator';

export type Repository = 'source' | 'content';
export type GitAccess = 'read' | 'write';

/** How a file came into a site without git. */
export type AssetSource = 'api' | 'photo' | 'upload_link';
/** `approved` waits for the agent, `redeemed` is over with a token; `expired` also where a newer request took its place. */
export type AccessRequestStatus = 'pending' | 'approved' | 'denied' | 'redeemed' | 'expired';

/** What the request is at this moment: a deadline holds whether or not somebody has written it down. */
export function accessRequestStatusAt(
  { status, expiresAt }: { status: AccessRequestStatus; expiresAt: Date },
  now: Date,
): AccessRequestStatus {
  return (status === 'pending' || status === 'approved') && expiresAt <= now ? 'expired' : status;
}

/** `ended`: withdrawn, replaced by a later one, or impossible by the time it was confirmed. */
export type EmailChangeStatus = 'pending' | 'confirmed' | 'ended';

export type FormStatus = 'enabled' | 'disabled';

/** What a visitor answers in a field of a form, or a booking's intake. */
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
 * What the booking is at this moment: a hold ends to the instant, whether or not somebody has written it down. While a page is open on which it
 * can be paid (`paying`), it holds its seat beyond that.
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
/** Who holds the zone: the service, or the owner's own DNS, which points here. */
export type DomainMode = (typeof domainModes)[number];

export const domainStatuses = ['pending', 'active', 'Moved', 'Deleted', 'Blocked'] as const;
export type DomainStatus = (typeof domainStatuses)[number];

/** Whether the name is its account's: proved, and not lost. Others who bring it are told that it is taken. */
export function ownsName({ status, provedAt }: { status: DomainStatus; provedAt?: Date | null | undefined }): boolean {
  return Boolean(provedAt) && status !== 'Deleted';
}

export const servedStatuses = ['active', 'Moved'] as const satisfies readonly DomainStatus[];
/** Whether edges serve the site that is attached: until nobody can be meant any more, or a person has stopped it. */
export function isServed({ status }: { status: DomainStatus }): boolean {
  return (servedStatuses as readonly DomainStatus[]).includes(status);
}

export const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'CAA', 'NS'] as const;
export type RecordType = (typeof recordTypes)[number];
/**
 * `open` waits on a page to be paid for, which may have `expired`; `active` and `past_due` are in force; `ending` is not any more, and is still
 * to be ended at the provider.
 */
export type SubscriptionStatus = 'open' | 'expired' | 'active' | 'past_due' | 'ending' | 'ended';
export const isSubscriptionSettled = (status: SubscriptionStatus) => status === 'expired' || status === 'ended';
export const subscriptionsInForce = ['active', 'past_due'] as const satisfies SubscriptionStatus[];
export const isSubscriptionInForce = (status: SubscriptionStatus) =>
  (subscriptionsInForce as readonly SubscriptionStatus[]).includes(status);

export const commentStatuses = ['open', 'resolved'] as const;
export type CommentStatus = (typeof commentStatuses)[number];

/** Who wrote a message: an agent by a token, or a person in a browser. */
export type AuthorKind = 'owner' | 'collaborator' | 'agent';

/**
 * Where a thread stands on its page. After a rebuild the place is looked for by the selector, then by the quote. `x` and `y` are CSS pixels from the
 * page's top left when it was written; `within` is the point as a share of what the selector means.
 */
export type CommentPosition = {
  selector: string | null;
  quote: string | null;
  x: number | null;
  y: number | null;
  within: { x: number; y: number } | null;
  viewport: { width: number; height: number } | null;
};

export const feedbackKinds = ['defect', 'missing', 'blame'] as const;
export type FeedbackKind = (typeof feedbackKinds)[number];

/** How money comes to an owner: by a key of his own account with the provider, or by an account that the platform opens for him there. */
export const payoutRails = ['own_key', 'connect'] as const;
export type PayoutRail = (typeof payoutRails)[number];

/** `pending`: the provider does not let it take money yet. `gone`: removed, and its key destroyed. */
export type PayoutAccountStatus = 'ready' | 'pending' | 'gone';

/** The two who agree where a site's money lands. */
export type PayoutParty = 'site' | 'payout_account';

export type PayoutOfferStatus = 'open' | 'accepted' | 'expired' | 'withdrawn';

/** What the offer is at this moment: its end holds whether or not somebody has written it down. */
export function payoutOfferStatusAt(
  { status, expiresAt }: { status: PayoutOfferStatus; expiresAt: Date },
  now: Date,
): PayoutOfferStatus {
  return status === 'open' && expiresAt <= now ? 'expired' : status;
}
/** Of the certificate that is being got. What is served beside it stays, and is judged by its own end: see `sslOf`. */
export type CertificateStatus = 'pending' | 'validating' | 'issuing' | 'active' | 'failed';
/** Whose it is to mend what stops a certificate. */
export type ProblemOf = 'owner' | 'platform';

/** `refunding`: the money is on its way back. */
export const paymentStatuses = ['open', 'paid', 'refunding', 'refunded', 'expired'] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** What the payment is at this moment: its end holds whether or not somebody has written it down. */
export function paymentStatusAt(
  { status, expiresAt }: { status: PaymentStatus; expiresAt: Date },
  now: Date,
): PaymentStatus {
  return status === 'open' && expiresAt <= now ? 'expired' : status;
}

/**
 * A hosted page: `minting` while it is asked for, `open` while somebody may pay on it, `closed` once nobody can. `unasked`: its time is long
 * over, and the provider could not be asked how it ended.
 */
export type AttemptStatus = 'minting' | 'open' | 'closed' | 'paid' | 'unasked';
/** Pages on which somebody may pay, as far as we know. */
export const unsettledAttempts = ['minting', 'open'] as const satisfies AttemptStatus[];
/** Pages of which money may turn up: those, and those of which nobody could say how they ended. */
export const unknownAttempts = [...unsettledAttempts, 'unasked'] as const satisfies AttemptStatus[];

/** Why a charge goes back: the owner asked, its booking was cancelled, the payment was paid already, its booking's seat was gone. */
export type RefundReason = 'asked' | 'cancelled' | 'second' | 'late';
