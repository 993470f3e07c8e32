import { type WrittenMail, write } from './layout.ts';

/** To the invited address. Names the site by its hostname: a title is free text by a stranger, and this mail is in our name. */
export function invitation({ hostname, link, days }: { hostname: string; link: string; days: number }): WrittenMail {
  return write({
    subject: `You are invited to edit ${hostname}`,
    preview: `Accept within ${days} days.`,
    heading: `You are invited to edit ${hostname}`,
    blocks: [
      `The owner of ${hostname} invites you to work on the site with them: to edit it, view drafts and publish.`,
      { button: { label: 'See the invitation', url: link } },
      `The invitation expires in ${days} days. Opening the link does not accept it: you sign in with this address and decide there.`,
    ],
    footer: `You get this because someone invited this address to ${hostname}. Don’t recognise it? Ignore this e-mail; nothing changes.`,
  });
}
