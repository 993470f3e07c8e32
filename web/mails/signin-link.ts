import { type WrittenMail, write } from './layout.ts';

/** To an address that was used to sign in. `link` is null if it has no account and cannot create one. */
export function signinLink({ link }: { link: string | null }): WrittenMail {
  if (link === null) return withoutAccount;
  return write({
    subject: 'Your sign-in link',
    preview: 'It works once and expires after 15 minutes.',
    heading: 'Sign in to Frontage',
    blocks: [
      'Open this link in the browser where you requested it:',
      { button: { label: 'Sign in', url: link } },
      'It works once and expires after 15 minutes. In another browser, it asks for the code shown where you requested the link.',
    ],
    footer: 'Didn’t request this? Ignore this e-mail; opening the link alone does not sign anyone in.',
  });
}

const withoutAccount = write({
  subject: 'There is no account for this address',
  preview: 'Someone tried to sign in with it.',
  heading: 'There is no account for this address',
  blocks: [
    'Someone, probably you, tried to sign in to Frontage with this address. It has no account here.',
    'Your account may use another of your addresses. If not, ask the operator of this service to create one for you.',
  ],
  footer: 'Didn’t request this? Ignore this e-mail.',
});
