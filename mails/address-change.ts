import { type WrittenMail, write } from './layout.ts';

/** To the address that an account has, or had: that another one is to take its place, or has. */
export function addressChange({ newAddress, done }: { newAddress: string; done: boolean }): WrittenMail {
  return done ? changed(newAddress) : asked(newAddress);
}

function asked(newAddress: string): WrittenMail {
  return write({
    subject: 'A new address was asked for',
    preview: 'It is not in force yet.',
    heading: 'Your account is to have another address',
    blocks: [
      'Somebody who holds a token of your account asked for this change:',
      { facts: [['New address', newAddress]] },
      'It comes into force when the new address confirms it. Until then everything goes on coming here.',
      'If this was not you or your agent: sign in, and revoke the tokens that you do not know.',
    ],
    footer: 'You get this because this is the address of a Frontage account.',
  });
}

function changed(newAddress: string): WrittenMail {
  return write({
    subject: 'Your account has a new address',
    preview: 'Links to sign in go there from now on.',
    heading: 'Your account has a new address',
    blocks: [
      'The new address was confirmed, and is in force:',
      { facts: [['New address', newAddress]] },
      'Links to sign in and agents’ requests go there from now on. What was sent here before is over.',
      'If this was not you, write at once to whoever runs this platform.',
    ],
    footer: 'You get this because this was the address of the account. It is the last mail about it.',
  });
}
