import { type WrittenMail, write } from './layout.ts';

/** To whoever asked to sign in. Without a link, where the address has no account and none can be opened. */
export function signinLink({ link }: { link: string | null }): WrittenMail {
  if (link === null) return withoutAccount;
  return write({
    subject: 'Your link to sign in',
    preview: 'It works once, for 15 minutes.',
    heading: 'Sign in to Frontage',
    blocks: [
      'Open this link in the browser in which you asked for it:',
      { button: { label: 'Sign in', url: link } },
      'It works once, for 15 minutes. In another browser it asks for the code that stands where you asked for the link.',
    ],
    footer: 'You did not ask for this? Then do nothing: opening the link alone signs nobody in.',
  });
}

const withoutAccount = write({
  subject: 'There is no account for this address',
  preview: 'Somebody asked to sign in with it.',
  heading: 'There is no account for this address',
  blocks: [
    'Somebody, probably you, asked to sign in to Frontage with this address. It has no account here.',
    'Perhaps your account is at another address of yours. If not, ask whoever runs this platform to open one.',
  ],
  footer: 'You did not ask for this? Then do nothing; no further mail comes by itself.',
});
