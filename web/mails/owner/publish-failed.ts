import { reasonOf } from '#rules/builds/failures.ts';
import { accountButton, type WrittenMail, write } from '#web/mails/layout.ts';

export type PublishFailed = {
  hostname: string;
  /** The number of the version. */
  number: number;
  /** Who or what published, in words. */
  by: string;
  /** Why it failed; may contain text of the site's code. */
  reason: string;
  /** The error code; absent in e-mails that an earlier release queued. */
  code?: string;
  /** Whether an earlier version is live. */
  isLive: boolean;
  /** Pages of the owner; null where owners cannot sign in. */
  account: string | null;
  choices: string | null;
};

/** To the owner of a site whose publish failed. */
export function publishFailed({
  hostname,
  number,
  by,
  reason,
  code = '',
  isLive,
  account,
  choices,
}: PublishFailed): WrittenMail {
  const unchanged = isLive
    ? 'Your website is still online, as it was before.'
    : 'Your website has not been published yet, so visitors do not see it.';
  const { sentence, raw } = reasonOf({ code, message: reason });
  return write({
    subject: `Version ${number} could not be published`,
    hostname,
    preview: unchanged,
    heading: `Version ${number} of ${hostname} could not be published`,
    blocks: [
      unchanged,
      { facts: [['Published by', by]] },
      ...(raw === null ? ['What failed:'] : [sentence, 'The exact message:']),
      { quote: reason },
      'Ask your agent to fix it and to publish again. If that fails too, we do not e-mail you again for 24 hours.',
      ...accountButton(account, 'See the version'),
    ],
    footer: 'You are receiving this e-mail because you own this website.',
    choices,
  });
}
