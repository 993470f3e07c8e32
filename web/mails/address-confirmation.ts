import { type WrittenMail, write } from './layout.ts';

/** To the new address of an account. The change takes effect when the link is confirmed. */
export function addressConfirmation({ link, accountName }: { link: string; accountName: string }): WrittenMail {
  return write({
    subject: 'Confirm your new address',
    preview: 'The account keeps its old address until you confirm the new one.',
    heading: 'Is this your new address?',
    blocks: [
      'Confirm that this is your address. Sign-in links and access requests for this account will be sent here:',
      { facts: [['Account', accountName]] },
      { button: { label: 'Confirm this address', url: link } },
      'The link works once and expires after one day. Nothing changes until you confirm.',
    ],
    footer: 'Don’t recognise this account? Ignore this e-mail; nothing changes.',
  });
}
