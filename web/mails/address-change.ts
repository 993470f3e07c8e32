import { type WrittenMail, write } from './layout.ts';

/** To the current address of an account when a change is requested, and to the former one when it is done. */
export function addressChange({ newAddress, done }: { newAddress: string; done: boolean }): WrittenMail {
  return done ? changed(newAddress) : requested(newAddress);
}

function requested(newAddress: string): WrittenMail {
  return write({
    subject: 'Request to change your e-mail address',
    preview: 'Nothing has changed yet.',
    heading: 'Request to change your e-mail address',
    blocks: [
      'Someone with a token for your account requested this change:',
      { facts: [['New address', newAddress]] },
      'The change takes effect once it is confirmed from the new address. Until then, all e-mail for the account is sent to this address.',
      'If this was not you or your agent, sign in and revoke every token that you do not recognise.',
    ],
    footer: 'You are receiving this e-mail because this is the address of a Frontage account.',
  });
}

function changed(newAddress: string): WrittenMail {
  return write({
    subject: 'Your account has a new e-mail address',
    preview: 'Sign-in links are now sent there.',
    heading: 'Your account has a new e-mail address',
    blocks: [
      'The new address has been confirmed:',
      { facts: [['New address', newAddress]] },
      'Sign-in links and access requests are now sent there. Links sent to this address earlier no longer work.',
      'If this was not you, contact the operator of this service immediately.',
    ],
    footer:
      'You are receiving this e-mail because the account used this address before. We will not send any more e-mails about the account to it.',
  });
}
