import { undoPeriod } from '#rules/periods.ts';
import { type WrittenMail, write } from './layout.ts';

/** `askedBy`: the name of the token that asked; null where a person did, on the account page. */
type Asked = { newAddress: string; askedBy: string | null; link: string; code: string };
type AddressChange =
  | ({ stage: 'asked' } & Asked)
  | ({ stage: 'done' } & Asked)
  /** To the address that the account had in between. */
  | { stage: 'undone'; oldAddress: string };

/** To the old address of an account when a change is requested and when it is done; to the new one when it is undone. */
export function addressChange(change: AddressChange): WrittenMail {
  if (change.stage === 'undone') return undone(change.oldAddress);
  return change.stage === 'asked' ? requested(change) : changed(change);
}

/** Who asked, as the mails and their pages name them. */
export function askerName(askedBy: string | null): string {
  return askedBy === null ? 'somebody who is signed in on the account page' : `an agent or program named “${askedBy}”`;
}

function requested({ newAddress, askedBy, link, code }: Asked): WrittenMail {
  return write({
    subject: 'Do you want to change your e-mail address?',
    preview: 'Nothing has changed yet. You decide.',
    heading: 'Do you want to change your e-mail address?',
    blocks: [
      'Somebody asked to change the e-mail address of your Frontage account:',
      {
        facts: [
          ['New address', newAddress],
          ['Asked by', askerName(askedBy)],
        ],
      },
      'A person who reads e-mail at the new address controls your account and your websites. If it is not your own address, stop the change.',
      { button: { label: 'Confirm or stop the change', url: link } },
      { code },
      'Type this code on the page. Do not give it to anybody, not even to your agent. If you do nothing, the request expires after one day.',
    ],
    footer:
      'You are receiving this e-mail because this is the address of a Frontage account. If this was not you or your agent, sign in and revoke every agent that you do not recognise.',
  });
}

function changed({ newAddress, askedBy, link, code }: Asked): WrittenMail {
  return write({
    subject: 'Your account has a new e-mail address',
    preview: `You can undo this for ${undoPeriod}.`,
    heading: 'Your account has a new e-mail address',
    blocks: [
      'Both addresses have confirmed the change. Every browser was signed out. Sign-in links and access requests now go to the new address:',
      {
        facts: [
          ['New address', newAddress],
          ['Asked by', askerName(askedBy)],
        ],
      },
      `Is this wrong? You can undo it for ${undoPeriod}. Your account then has this address again, every agent and app loses its access, and every browser is signed out.`,
      { button: { label: 'Undo the change', url: link } },
      { code },
      'Type this code on the page. Do not give it to anybody.',
    ],
    footer:
      'You are receiving this e-mail because the account used this address before. We will not send any more e-mails about the account to it.',
  });
}

function undone(oldAddress: string): WrittenMail {
  return write({
    subject: 'The change of your e-mail address was undone',
    preview: 'Sign-in links go to the old address again.',
    heading: 'The change of your e-mail address was undone',
    blocks: [
      'Somebody who reads e-mail at the old address has undone the change. The account has its old address again:',
      { facts: [['Address', oldAddress]] },
      'Every browser was signed out, and every agent and app lost its access. To sign in, use the old address.',
      'If you no longer have that mailbox, contact the operator of this service.',
    ],
    footer: 'You are receiving this e-mail because a Frontage account used this address for a short time.',
  });
}
