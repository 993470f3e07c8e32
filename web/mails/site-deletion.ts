import { day } from '#web/times.ts';
import { type WrittenMail, write } from './layout.ts';

/** To the owner of a site that was deleted with their token. `deleteAt` is when it can no longer be restored. */
export function siteDeletion({
  hostname,
  deleteAt,
  link,
}: {
  hostname: string;
  deleteAt: string;
  /** The page that restores the site; null where owners cannot sign in. */
  link: string | null;
}): WrittenMail {
  const date = day(new Date(deleteAt));
  return write({
    subject: `Your website will be deleted on ${date}`,
    hostname,
    preview: `Until ${date}, you can restore it.`,
    heading: `Your website will be deleted on ${date}`,
    blocks: [
      `You or your agent deleted ${hostname}. It is offline already. On ${date}, its pages, files, forms, submissions and comments are deleted for good.`,
      ...(link === null
        ? ['To keep the website, tell your agent to restore it before that day.']
        : [
            'To keep the website, open this page before that day, sign in, and choose “Restore”:',
            { button: { label: 'Restore the website', url: link } },
          ]),
      'Your domains stay in your account. Records of payments and bookings are kept as receipts.',
    ],
    footer: 'You are receiving this e-mail because you own this website.',
  });
}
