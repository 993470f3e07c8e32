import { type WrittenMail, write } from './layout.ts';

export type AccessEnded = { client: string; cause: 'refresh_reused' | 'code_reused' };

const reasons: Record<AccessEnded['cause'], string> = {
  refresh_reused:
    'The app’s stored key for renewing its access was used a second time, more than a minute after its first use. Either two copies of the app share one key, or somebody else has a copy of it. We cannot tell which, so we have ended the access.',
  code_reused:
    'The code that connected the app was used a second time. Each code may be used only once, so somebody else may have a copy of it. We have ended the access.',
};

/** To the owner: an app lost its access because one of its secrets was used twice. */
export function accessEnded({ client, cause }: AccessEnded, { baseUrl }: { baseUrl: string }): WrittenMail {
  return write({
    subject: 'We disconnected an app from your account',
    preview: 'Read why, and what to check.',
    heading: 'We disconnected an app from your account',
    blocks: [
      { facts: [['App', client]] },
      reasons[cause],
      'To keep using the app, connect it again from the app. If you do not recognise what it did, revoke the tokens on your account page that you do not use.',
      { button: { label: 'Open your account', url: `${baseUrl}/account` } },
    ],
    footer: 'You are receiving this e-mail because this address has an account here.',
  });
}
