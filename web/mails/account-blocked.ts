import { type WrittenMail, write } from './layout.ts';

/** To the owner of an account that the operator has blocked, with the reason; `null` once it is unblocked. */
export function accountBlocked({ reason }: { reason: string | null }): WrittenMail {
  if (reason === null) return unblocked;
  return write({
    subject: 'Your account has been blocked',
    preview: 'Read the operator’s reason, and what it means for your websites.',
    heading: 'Your account has been blocked',
    blocks: [
      'The operator of this service has blocked your account for this reason:',
      { quote: reason },
      'While your account is blocked, your websites are offline and cannot receive messages, bookings or payments, and neither you nor your agents can sign in. Nothing has been deleted.',
      'If this is a mistake, or once you have fixed the problem, please contact the operator.',
    ],
    footer: 'You are receiving this e-mail because this address has an account here.',
  });
}

const unblocked = write({
  subject: 'Your account has been unblocked',
  preview: 'Your websites are online again.',
  heading: 'Your account has been unblocked',
  blocks: [
    'Your account is active again. Your websites are back online as they were before, and you and your agents can sign in.',
    'Any publishing that was in progress was cancelled. Please publish those changes again.',
  ],
  footer: 'You are receiving this e-mail because this address has an account here.',
});
