import { type WrittenMail, write } from './layout.ts';

/** To the invited address. The site is named by its hostname: a title is free text, and would speak in our name. */
export function invitation({ hostname, link, days }: { hostname: string; link: string; days: number }): WrittenMail {
  return write({
    subject: `You are invited to work on ${hostname}`,
    preview: `Accept within ${days} days.`,
    heading: `You are invited to work on ${hostname}`,
    blocks: [
      `The owner of ${hostname} asks you to work on that site with them: to edit it, look at drafts and publish.`,
      { button: { label: 'See the invitation', url: link } },
      `It holds for ${days} days. Opening the link accepts nothing yet: you sign in with this address and decide there.`,
      'Your agent can accept too: it finds the invitation with GET /v1/invitations.',
    ],
    footer: `You get this because someone invited this address to ${hostname}. If you know nothing of it, do nothing.`,
  });
}
