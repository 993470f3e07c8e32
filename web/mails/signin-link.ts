import { period, signinLinkMs } from '#rules/periods.ts';
import { type WrittenMail, write } from './layout.ts';

type SigninLink = {
  /** Null if the address has no account and cannot create one. */
  link: string | null;
  /** Absent from mails that an earlier release queued. */
  asker?: { browser: string; address: string };
};

/** To an address that was used to sign in. */
export function signinLink({ link, asker }: SigninLink): WrittenMail {
  if (link === null) return withoutAccount;
  return write({
    subject: 'Your sign-in link',
    preview: `The link works once and expires after ${period(signinLinkMs)}.`,
    heading: 'Sign in to Frontage',
    blocks: [
      'Somebody, probably you, wants to sign in with this address:',
      ...(asker ? [factsOf(asker)] : []),
      { button: { label: 'Sign in', url: link } },
      `The link works once and expires after ${period(signinLinkMs)}. Its page signs you in where you open it, or shows a code to type into the browser where you asked for the link.`,
    ],
    footer:
      'Didn’t request this? Ignore this e-mail; opening the link alone does not sign anyone in. Do not give the code to anybody.',
  });
}

const factsOf = ({ browser, address }: { browser: string; address: string }) => ({
  facts: [
    ['Browser', browser],
    ['Network address', address],
  ] as const,
});

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
