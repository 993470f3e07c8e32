import { type WrittenMail, write } from './layout.ts';

/** To the current address of an account when a change is requested, and to the former one when it is done. */
export function addressChange({ newAddress, done }: { newAddress: string; done: boolean }): WrittenMail {
  return done ? changed(newAddress) : requested(newAddress);
}

function requested(newAddress: string): WrittenMail {
  return write({
    subject: 'A change of your e-mail address was requested',
    preview: 'Nothing has changed yet.',
    heading: 'Change of your e-mail address requested',
    blocks: [
      'Someone with a token for your account requested this change:',
      { facts: [['New address', newAddress]] },
      'It takes effect when the new address confirms it. Until then, all e-mail for the account comes here.',
      'If this was not you or your agent, sign in and revoke every token that you do not recognise.',
    ],
    footer: 'You get this because this is the address of a Frontage account.',
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
      'Sign-in links and access requests are now sent there. Links sent to this address before have expired.',
      'If this was not you, write to the operator of this service immediately.',
    ],
    footer:
      'You get this because this was the address of the account. We send no more e-mail about it to this address.',
  });
}
