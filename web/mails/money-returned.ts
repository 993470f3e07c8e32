/** A payment arrived too late for its booking and is refunded: to the visitor, and to the site's address for booking notices. */
import { written } from '#rules/currencies.ts';
import { bookingButton, factsTable, type OfNotice, whenOf } from './booking.ts';
import { reachBlocks, type WrittenMail, write } from './layout.ts';

export function moneyReturned({
  to,
  visitorName,
  amount,
  currency,
  account,
  choices,
  ...facts
}: OfNotice & {
  to: 'site' | 'visitor';
  visitorName: string;
  /** In the minor unit of the currency. */
  amount: number;
  currency: string;
  /** The page where the owner chooses their e-mails, if it goes to the owner. */
  choices?: string | null;
}): WrittenMail {
  const forSite = to === 'site';
  const money = written({ amount, currency });
  return write({
    subject: forSite ? `Not booked: ${facts.service}, ${whenOf(facts)}` : `Not booked: ${whenOf(facts)}`,
    hostname: facts.hostname,
    preview: forSite ? `${money} is being refunded to the visitor.` : `Your ${money} is being refunded.`,
    heading: forSite ? `A payment on ${facts.hostname} arrived too late` : 'Your booking could not be completed',
    blocks: [
      forSite
        ? `${visitorName} paid ${money}, but by then the time was no longer available. The payment is being refunded automatically.`
        : `When your payment of ${money} arrived, this time was no longer available. The payment is being refunded, which can take a few days.`,
      { facts: factsTable(facts) },
      ...(forSite ? bookingButton(account) : reachBlocks(facts, 'book another time', 'ask about it')),
    ],
    footer: forSite
      ? `You are receiving this e-mail because booking notices for ${facts.hostname} are sent to this address.`
      : `You are receiving this e-mail because this address was given for a booking on ${facts.hostname}.`,
    choices,
  });
}
