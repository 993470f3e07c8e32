/** Every kind of mail: its data and the function that renders it. Pure. */
import { accessEnded } from './access-ended.ts';
import { accessRequest } from './access-request.ts';
import { accountBlocked } from './account-blocked.ts';
import { accountDeletion } from './account-deletion.ts';
import { addressChange } from './address-change.ts';
import { addressConfirmation } from './address-confirmation.ts';
import { bookingCancelled, bookingConfirmed, bookingTaken } from './booking.ts';
import { bookingHeld } from './booking-held.ts';
import { bookingMoved } from './booking-moved.ts';
import { bookingReminder } from './booking-reminder.ts';
import { collaboratorInvited } from './collaborator-invited.ts';
import { domainLive } from './domain-live.ts';
import { domainProofMissing } from './domain-proof-missing.ts';
import { domainTrouble } from './domain-trouble.ts';
import { formSubmission } from './form-submission.ts';
import { invitation } from './invitation.ts';
import type { WrittenMail } from './layout.ts';
import { moneyReturned } from './money-returned.ts';
import { agentAdmitted } from './owner/agent-admitted.ts';
import { commentsWaiting } from './owner/comments-waiting.ts';
import { publishFailed } from './owner/publish-failed.ts';
import { weeklySummary } from './owner/weekly-summary.ts';
import { paymentReceipt, paymentReceived, paymentRefunded, refundFailed } from './payments.ts';
import { signinLink } from './signin-link.ts';
import { siteDeletion } from './site-deletion.ts';
import { submissionReceived } from './submission-received.ts';

/** Available to every mail besides its own data. */
export type MailContext = { baseUrl: string };
export type Template<Data> = (data: Data, context: MailContext) => WrittenMail;

export const mails = {
  invitation,
  'collaborator-invited': collaboratorInvited,
  submission: formSubmission,
  'submission-received': submissionReceived,
  'access-request': accessRequest,
  'access-ended': accessEnded,
  'agent-admitted': agentAdmitted,
  'publish-failed': publishFailed,
  'signin-link': signinLink,
  'account-blocked': accountBlocked,
  'address-confirmation': addressConfirmation,
  'address-change': addressChange,
  'booking-held': bookingHeld,
  'booking-confirmed': bookingConfirmed,
  'booking-taken': bookingTaken,
  'booking-cancelled': bookingCancelled,
  'booking-moved': bookingMoved,
  'booking-reminder': bookingReminder,
  'money-returned': moneyReturned,
  'payment-received': paymentReceived,
  'payment-receipt': paymentReceipt,
  'payment-refunded': paymentRefunded,
  'refund-failed': refundFailed,
  'domain-live': domainLive,
  'domain-trouble': domainTrouble,
  'domain-proof-missing': domainProofMissing,
  'site-deletion': siteDeletion,
  'account-deletion': accountDeletion,
  'comments-waiting': commentsWaiting,
  'weekly-summary': weeklySummary,
} as const;

export type MailKind = keyof typeof mails;
export type MailData<Kind extends MailKind> = Parameters<(typeof mails)[Kind]>[0];

export function writeMail<Kind extends MailKind>(kind: Kind, data: MailData<Kind>, context: MailContext): WrittenMail {
  return (mails[kind] as Template<MailData<Kind>>)(data, context);
}
