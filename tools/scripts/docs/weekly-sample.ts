/** What a weekly summary says of two websites, for docs/mails.md. */
import type { MailData } from '#web/mails/mails.ts';

export const weekOf = (hostname: string): MailData<'weekly-summary'>['sites'] => [
  {
    hostname,
    visits: 412,
    enquiries: 3,
    bookings: 5,
    payments: 4,
    paid: ['€187.50'],
    openComments: 2,
    publishes: 1,
  },
  {
    hostname: 'pottery.example',
    visits: 38,
    enquiries: 1,
    bookings: 0,
    payments: 0,
    paid: [],
    openComments: 0,
    publishes: 0,
  },
];
