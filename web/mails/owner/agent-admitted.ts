import { type WrittenMail, write } from '#web/mails/layout.ts';

export type AgentAdmitted = {
  /** The name of the token, which the agent may have chosen. */
  agent: string;
  /** What it may do, in the words of the account page. */
  may: string;
  /** Hostnames, if it has access to some websites only. */
  websites: string[];
  /** Who gave the access: the token that made this one; null for the owner in a browser. */
  givenBy: string | null;
  /** When the access ends, in words. */
  ends: string;
  /** Whether no more of these e-mails are sent for a while. */
  isLast: boolean;
  /** Pages of the owner; null where owners cannot sign in. */
  account: string | null;
  choices: string | null;
};

/** To the owner: a token was created for an agent or an app. */
export function agentAdmitted({ account, choices, isLast, ...access }: AgentAdmitted): WrittenMail {
  const { agent, may, websites, givenBy, ends } = access;
  return write({
    subject: 'An agent has access to your account',
    preview: 'Read what it may do, and how to end its access.',
    heading: 'An agent has access to your account',
    blocks: [
      {
        facts: [
          ['Agent', agent],
          ['Access', may],
          ...(websites.length > 0 ? [['Websites', websites.join(', ')] as const] : []),
          ['Given by', givenBy ?? 'you, in a browser'],
          ['Ends', ends],
        ],
      },
      givenBy === null
        ? 'If you did this, there is nothing more to do. If not, revoke this access: another person may be able to read your e-mails.'
        : 'If you or your agent wanted this, there is nothing to do. If not, revoke this access and that of the agent that gave it.',
      ...(isLast ? ['Several agents got access within an hour. We send no more e-mails about it for now.'] : []),
      account === null
        ? 'To end its access, ask the operator of this service.'
        : { button: { label: 'See or end its access', url: account } },
    ],
    footer: 'You are receiving this e-mail because this address has an account here.',
    choices,
  });
}
