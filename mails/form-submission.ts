import { type Block, type WrittenMail, write } from './layout.ts';

export type SubmissionMail = {
  hostname: string;
  formName: string;
  answers: { label: string; text: string }[];
  /** The path it was sent from. */
  page: string | null;
};

/** To who hears of enquiries. The answers are a stranger's words: in a table where they are short, as a quotation else. */
export function formSubmission({ hostname, formName, answers, page }: SubmissionMail): WrittenMail {
  return write({
    subject: `New enquiry on ${hostname}: ${formName}`,
    preview: answers
      .map(({ text }) => text)
      .join(' · ')
      .slice(0, 140),
    heading: `New enquiry: ${formName}`,
    blocks: [
      `Somebody filled in the form ${formName} on ${page === null ? hostname : `${hostname}${page}`}.`,
      ...answers.reduce<Block[]>(put, []),
    ],
    footer: `You get this because enquiries of this form on ${hostname} go to your address. It is kept with the site for 180 days too.`,
  });
}

/** Neighbours that are short share one table. */
function put(blocks: Block[], { label, text }: SubmissionMail['answers'][number]): Block[] {
  if (text.length > 120 || text.includes('\n')) return [...blocks, `${label}:`, { quote: text }];
  const last = blocks.at(-1);
  if (typeof last === 'object' && 'facts' in last)
    return [...blocks.slice(0, -1), { facts: [...last.facts, [label, text]] }];
  return [...blocks, { facts: [[label, text]] }];
}
