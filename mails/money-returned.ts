/** Money came for a booking that could not be had any more, and goes back: to the visitor who paid, and to who is told on the site. */

import { written } from '../currencies.ts';
import { type BookingFacts, factsTable, whenOf } from './booking.ts';
import { type WrittenMail, write } from './layout.ts';

export function moneyReturned({
  to,
  visitorName,
  amount,
  currency,
  ...facts
}: BookingFacts & {
  to: 'site' | 'visitor';
  visitorName: string;
  /** In the minor unit of the currency. */
  amount: number;
  currency: string;
}): WrittenMail {
  const forSite = to === 'site';
  const money = written({ amount, currency });
  return write({
    subject: `Not booked: ${facts.service}, ${whenOf(facts)}`,
    preview: forSite ? `${money} came too late and goes back.` : `Your ${money} goes back to you.`,
    heading: forSite ? `A payment on ${facts.hostname} came too late` : 'Your booking did not come about',
    blocks: [
      forSite
        ? `${visitorName} paid ${money} when the time could not be booked any more. The money goes back by itself.`
        : `Your payment of ${money} arrived when this time could not be booked any more. The money goes back to where it came from; that takes some days.`,
      { facts: factsTable(facts) },
      ...(forSite ? [] : [`To book another time: ${facts.address}`]),
    ],
    footer: forSite
      ? `You get this because bookings on ${facts.hostname} are told to this address.`
      : `You get this because this address was given for a booking on ${facts.hostname}.`,
  });
}
