/** Every kind of mail: its data and the function that renders it. Pure. */
import { accessEnded } from './access-ended.ts';
import { accessRequest } from './access-request.ts';
import { accountBlocked } from './account-blocked.ts';
import { accountDeletion } from './account-deletion.ts';
import { addressChange } from './address-change.ts';
import { addressConfirmation } from './address-confirmation.ts';
import { bookingCancelled, bookingConfirmed, bookingTaken } from './booking.ts';
import { domainProofMissing } from './domain-proof-missing.ts';
import { formSubmission } from './form-submission.ts';
import { invitation } from './invitation.ts';
import type { WrittenMail } from './layout.ts';
import { moneyReturned } from './money-returned.ts';
import { signinLink } from './signin-link.ts';
import { siteDeletion } from './site-deletion.ts';

/** Available to every mail besides its own data. */
export type MailContext = { baseUrl: string };
export type Template<Data> = (data: Data, context: MailContext) => WrittenMail;

export const mails = {
  invitation,
  submission: formSubmission,
  'access-request': accessRequest,
  'access-ended': accessEnded,
  'signin-link': signinLink,
  'account-blocked': accountBlocked,
  'address-confirmation': addressConfirmation,
  'address-change': addressChange,
  'booking-confirmed': bookingConfirmed,
  'booking-taken': bookingTaken,
  'booking-cancelled': bookingCancelled,
  'money-returned': moneyReturned,
  'domain-proof-missing': domainProofMissing,
  'site-deletion': siteDeletion,
  'account-deletion': accountDeletion,
} as const;

export type MailKind = keyof typeof mails;
export type MailData<Kind extends MailKind> = Parameters<(typeof mails)[Kind]>[0];

export function writeMail<Kind extends MailKind>(kind: Kind, data: MailData<Kind>, context: MailContext): WrittenMail {
  return (mails[kind] as Template<MailData<Kind>>)(data, context);
}
