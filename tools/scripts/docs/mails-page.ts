/** `docs/mails.md`: every mail with its picture. Pure. */

import type { WrittenMail } from '#web/mails/layout.ts';
import { type MailKind, type Template, writeMail } from '#web/mails/mails.ts';
import { type MailFacts, type MailSection, mailSections } from './mail-facts.ts';
import { mailSamples, sampleContext } from './mail-samples.ts';

/** `picture` is a file below docs/mails/. */
export type Example = { kind: MailKind; case: string | null; mail: WrittenMail; picture: string };

/** The examples of a kind, as they are sent. */
function examplesOf({ folder }: MailSection, kind: MailKind): Example[] {
  return mailSamples[kind].map(({ case: form, data }) => ({
    kind,
    case: form ?? null,
    mail: writeMail(kind, data as Parameters<Template<never>>[0], sampleContext),
    picture: `${folder}/${[kind, ...(form?.split(' ') ?? [])].join('-')}.webp`,
  }));
}

const kindsOf = ({ mails }: MailSection) => Object.keys(mails) as MailKind[];

export const allExamples = (): Example[] =>
  mailSections.flatMap((section) => kindsOf(section).flatMap((kind) => examplesOf(section, kind)));

export function mailsPage(): string {
  const sections = mailSections.map((section) =>
    [`## ${section.title}`, ...kindsOf(section).map((kind) => mailPart(section, kind))].join('\n\n'),
  );
  return `# E-mails

Generated from \`web/mails/\` and \`tools/scripts/docs/\` by \`npm run docs\`. Do not edit this page.

Every e-mail that the platform sends, with examples. The subject of an e-mail about a website begins with its hostname.
No e-mail contains pictures, counts who opens it, or loads anything. Each has a plain text version.

${sections.join('\n\n')}
`;
}

function mailPart(section: MailSection, kind: MailKind): string {
  const { name, when, to, off } = section.mails[kind] as MailFacts;
  const examples = examplesOf(section, kind);
  return [
    `### ${name}`,
    [
      `- **Kind**: \`${kind}\``,
      `- **When**: ${when}`,
      `- **To**: ${to}.`,
      `- **Can be switched off**: ${off ?? 'no.'}`,
      ...examples.map(subjectLine),
    ].join('\n'),
    ...examples.map(({ mail, picture }) => `![${mail.subject}](mails/${picture})`),
  ].join('\n\n');
}

const subjectLine = ({ case: form, mail }: Example) =>
  `- **Subject**${form === null ? '' : ` (${form})`}: ${mail.subject}`;
