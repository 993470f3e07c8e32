import { deletionCodePeriod } from '#rules/periods.ts';
import { day } from '#web/times.ts';
import { type WrittenMail, write } from './layout.ts';

type AccountDeletion =
  | { stage: 'asked'; code: string }
  /** `deleteAt` is when it can no longer be restored, `link` the page that restores it. */
  | { stage: 'done'; deleteAt: string; link: string };

/** To the owner of an account who asked in a browser to delete it, and when it is being deleted. */
export function accountDeletion(deletion: AccountDeletion): WrittenMail {
  return deletion.stage === 'asked' ? asked(deletion.code) : done(new Date(deletion.deleteAt), deletion.link);
}

function asked(code: string): WrittenMail {
  return write({
    subject: 'Do you want to delete your account?',
    preview: 'Nothing has been deleted. You decide.',
    heading: 'Do you want to delete your account?',
    blocks: [
      'Somebody who is signed in to your Frontage account asked to delete it, with all of its websites. To delete it, type this code on the page that asked for it:',
      { code },
      `Do not give the code to anybody, not even to your agent. If you do nothing, nothing is deleted. The code expires after ${deletionCodePeriod}.`,
    ],
    footer:
      'You are receiving this e-mail because this is the address of a Frontage account. If this was not you, somebody else has access to your browser or your mailbox.',
  });
}

function done(deleteAt: Date, link: string): WrittenMail {
  const date = day(deleteAt);
  return write({
    subject: `Your account will be deleted on ${date}`,
    preview: `Until ${date}, you can restore it.`,
    heading: `Your account will be deleted on ${date}`,
    blocks: [
      `You deleted your Frontage account. Its websites are offline already, your plan is cancelled, and no agent or app has access any more. On ${date}, the account and its websites are deleted for good.`,
      'To keep the account, open this page before that day, sign in, and choose “Restore my account”:',
      { button: { label: 'Restore my account', url: link } },
      'Records of payments and bookings are kept as receipts.',
    ],
    footer: 'You are receiving this e-mail because this is the address of the account.',
  });
}
