import { type WrittenMail, write } from './layout.ts';

/** To the invited address. Names the site by its hostname: a title is free text by a stranger, and this mail is in our name. */
export function invitation({ hostname, link, days }: { hostname: string; link: string; days: number }): WrittenMail {
  return write({
    subject: 'You have been invited to edit this website',
    hostname,
    preview: `Accept within ${days} days.`,
    heading: `You have been invited to edit ${hostname}`,
    blocks: [
      `The owner of ${hostname} has invited you to work on the site with them. You will be able to edit it, view drafts and publish.`,
      { button: { label: 'See the invitation', url: link } },
      `The invitation expires in ${days} days. Opening the link does not accept the invitation: you sign in with this address first, and then decide.`,
    ],
    footer: `You are receiving this e-mail because someone invited this address to ${hostname}. Don’t recognise the website? Ignore this e-mail; nothing changes.`,
  });
}
