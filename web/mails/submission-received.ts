import { type WrittenMail, write } from './layout.ts';

export type SubmissionReceived = {
  hostname: string;
  /** The site's title, which its owner chose, without an address: see `mailTitleOf`. */
  title: string;
  /** The owner's words, without an address. */
  text: string;
};

/** To a visitor who sent a form, if the form acknowledges that. Contains nothing that the visitor wrote. */
export function submissionReceived({ hostname, title, text }: SubmissionReceived): WrittenMail {
  return write({
    subject: 'We have received your message',
    hostname,
    preview: `Your message to ${hostname} has arrived.`,
    heading: 'We have received your message',
    blocks: [`Your message to ${title} has arrived. ${title} writes:`, { quote: text }],
    footer: `You are receiving this e-mail because this address was typed into a form on ${hostname}. If that was not you, please ignore this e-mail; the form sends you at most one a day.`,
  });
}
