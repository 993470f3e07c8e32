import { accountButton, type Block, type WrittenMail, write } from '#web/mails/layout.ts';
import { pageInText } from '#web/page-names.js';

/**
 * `text` is the reviewer's, on one line, and `name` what they typed as their name; `slot` is the preview's number, null
 * for the live website.
 */
export type WaitingComment = { page: string; slot: number | null; text: string; name?: string | null };

export type CommentsWaiting = {
  hostname: string;
  /** The first of them, oldest first. */
  comments: WaitingComment[];
  /** Of all, with those that are not listed. */
  count: number;
  /** The owner's page, and the one where they choose their e-mails; null where owners cannot sign in. */
  account: string | null;
  choices: string | null;
};

/** To the owner: comments that have had no answer for an hour. */
export function commentsWaiting({ hostname, comments, count, account, choices }: CommentsWaiting): WrittenMail {
  const what = count === 1 ? 'A comment is waiting for an answer' : `${count} comments are waiting for an answer`;
  const unlisted = count - comments.length;
  return write({
    subject: what,
    hostname,
    preview: comments
      .map(({ text }) => text)
      .join(' · ')
      .slice(0, 140),
    heading: what,
    blocks: [
      `Nobody has answered or resolved ${count === 1 ? 'this comment' : 'these comments'} for an hour:`,
      ...comments.flatMap(commentBlocks),
      ...(unlisted > 0 ? [`And ${unlisted} more.`] : []),
      `Your agent can read, answer and resolve comments${account === null ? '.' : ', and so can you:'}`,
      ...accountButton(account, 'Answer the comments'),
    ],
    footer: `You are receiving this e-mail because you own this website. You receive one e-mail about each comment, and at most one an hour for ${hostname}.`,
    choices,
  });
}

function commentBlocks({ page, slot, text, name }: WaitingComment): Block[] {
  const place = `${pageInText(page)}${slot === null ? '' : ` of preview ${slot}`}`;
  return [name ? `${name}, on ${place}:` : `On ${place}:`, { quote: text }];
}
