import { type WrittenMail, write } from './layout.ts';

type Invitation = {
  hostname: string;
  link: string;
  days: number;
  /** Absent from mails that an earlier release queued. */
  inviter?: { name: string; email: string };
};

/**
 * To the invited address. Names the site by its hostname, and the inviter by their address too: titles and names are
 * free text by a stranger, and this mail is in our name.
 */
export function invitation({ hostname, link, days, inviter }: Invitation): WrittenMail {
  return write({
    subject: 'You have been invited to edit this website',
    hostname,
    preview: `Accept within ${days} days.`,
    heading: `You have been invited to edit ${hostname}`,
    blocks: [
      `The owner of ${hostname} has invited you to work on the site with them. You will be able to edit it, view drafts and publish.`,
      ...(inviter ? [{ facts: [['Invited by', `${inviter.name} (${inviter.email})`]] } as const] : []),
      { button: { label: 'See the invitation', url: link } },
      `The invitation expires in ${days} days. Opening the link does not accept the invitation: you sign in with this address first, and then accept or decline.`,
    ],
    footer: `You are receiving this e-mail because someone invited this address to ${hostname}. Don’t recognise the website or the person? Ignore this e-mail; nothing changes.`,
  });
}
