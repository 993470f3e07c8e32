import { type WrittenMail, write } from './layout.ts';

export type CollaboratorInvited = {
  hostname: string;
  /** The name of the token that invited. */
  agent: string;
  /** The owner's address. Absent from mails that an earlier release queued. */
  owner?: string;
  /** Who is invited. */
  email: string;
  /** The page that ends the access; null where owners cannot sign in. */
  link: string | null;
};

/** To the owner: a token of theirs invited a person, who keeps access when the token is revoked. */
export function collaboratorInvited({ hostname, agent, owner, email, link }: CollaboratorInvited): WrittenMail {
  return write({
    subject: 'A person was invited to edit this website',
    hostname,
    preview: 'If you did not want this, end it.',
    heading: `A person was invited to edit ${hostname}`,
    blocks: [
      {
        facts: [
          ['Invited', email],
          ['By', owner ? `${agent}, an agent of ${owner}` : `${agent}, an agent of yours`],
        ],
      },
      'When they accept, they can edit the website, see its drafts and publish. If you or your agent wanted this, there is nothing to do.',
      ...(link === null
        ? [
            'If not, tell another agent to end their access, and to revoke the access of the agent named above: another person may be using it.',
          ]
        : [
            'If not, open this page, sign in, and choose “End their access”. Then revoke the access of the agent named above on your account page: another person may be using it.',
            { button: { label: 'End their access', url: link } },
          ]),
    ],
    footer: 'You are receiving this e-mail because you own this website.',
  });
}
