import { type WrittenMail, write } from './layout.ts';

/** To the new address of an account, which is not in force before its link is confirmed. */
export function addressConfirmation({ link, accountName }: { link: string; accountName: string }): WrittenMail {
  return write({
    subject: 'Confirm your new address',
    preview: 'The account keeps its old address until you do.',
    heading: 'Is this your new address?',
    blocks: [
      'This address is to become the one of a Frontage account, to which links to sign in and agents’ requests go:',
      { facts: [['Account', accountName]] },
      { button: { label: 'Confirm this address', url: link } },
      'The link works once, for one day. Until you confirm, nothing changes.',
    ],
    footer: 'You know nothing of this account? Then do nothing.',
  });
}
