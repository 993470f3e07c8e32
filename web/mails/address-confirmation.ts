import { askerName } from './address-change.ts';
import { type WrittenMail, write } from './layout.ts';

/** To the new address of an account, once the old one has confirmed. */
export function addressConfirmation({
  link,
  code,
  accountName,
  askedBy,
}: {
  link: string;
  code: string;
  accountName: string;
  askedBy: string | null;
}): WrittenMail {
  return write({
    subject: 'Confirm your new address',
    preview: 'The account keeps its old address until you confirm the new one.',
    heading: 'Is this your new address?',
    blocks: [
      'Confirm that this is your address. Sign-in links and access requests for this account will be sent here:',
      {
        facts: [
          ['Account', accountName],
          ['Asked by', askerName(askedBy)],
        ],
      },
      { button: { label: 'Confirm this address', url: link } },
      { code },
      'Type this code on the page. The link works once and expires after one day. Nothing changes until you confirm; then every browser has to sign in again, with this address.',
    ],
    footer: 'Don’t recognise this account? Ignore this e-mail; nothing changes.',
  });
}
