import { accountButton, type Block, type WrittenMail, write } from './layout.ts';

export type SubmissionMail = {
  hostname: string;
  formName: string;
  answers: { label: string; text: string }[];
  /** Path of the page with the form. */
  page: string | null;
  account?: string | null;
};

/** To the address for messages. The answers are a stranger's text: short ones go into a table, long ones into a quotation. */
export function formSubmission({ hostname, formName, answers, page, account }: SubmissionMail): WrittenMail {
  return write({
    subject: `New message: ${formName}`,
    hostname,
    preview: answers
      .map(({ text }) => text)
      .join(' · ')
      .slice(0, 140),
    heading: `New message: ${formName}`,
    blocks: [
      `A visitor filled in the form ${formName} on ${page === null ? hostname : `${hostname}${page}`}.`,
      ...answers.reduce<Block[]>(addAnswer, []),
      ...accountButton(account, 'See the message'),
    ],
    footer: `You are receiving this e-mail because messages from this form on ${hostname} are sent to your address. The site keeps a copy for 180 days.`,
  });
}

/** Consecutive short answers share one table. */
function addAnswer(blocks: Block[], { label, text }: SubmissionMail['answers'][number]): Block[] {
  if (text.length > 120 || text.includes('\n')) return [...blocks, `${label}:`, { quote: text }];
  const last = blocks.at(-1);
  if (typeof last === 'object' && 'facts' in last)
    return [...blocks.slice(0, -1), { facts: [...last.facts, [label, text]] }];
  return [...blocks, { facts: [[label, text]] }];
}
