import { type WrittenMail, write } from './layout.ts';

/** To an address that was used to sign in. `link` is null if it has no account and cannot create one. */
export function signinLink({ link }: { link: string | null }): WrittenMail {
  if (link === null) return withoutAccount;
  return write({
    subject: 'Your sign-in link',
    preview: 'The link works once and expires after 15 minutes.',
    heading: 'Sign in to Frontage',
    blocks: [
      'Open this link in the browser where you requested it:',
      { button: { label: 'Sign in', url: link } },
      'The link works once and expires after 15 minutes. If you open it in another browser, you will be asked for the code shown where you requested it.',
    ],
    footer: 'Didn’t request this? Ignore this e-mail; opening the link alone does not sign anyone in.',
  });
}

const withoutAccount = write({
  subject: 'There is no account for this address',
  preview: 'Someone tried to sign in with this address.',
  heading: 'There is no account for this address',
  blocks: [
    'Someone, probably you, tried to sign in to Frontage with this address, but it has no account here.',
    'Your account may use a different e-mail address. If you don’t have an account, ask the operator of this service to create one for you.',
  ],
  footer: 'Didn’t request this? Ignore this e-mail.',
});
