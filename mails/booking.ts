/** What is said about a booking: to the visitor, with a file for their calendar, and to who is told of it on the site. */
import { calendarFile } from './calendar-file.ts';
import { type WrittenMail, write } from './layout.ts';

export type BookingFacts = {
  id: string;
  reference: string;
  /** The site as people know it, and where it is. */
  hostname: string;
  address: string;
  service: string;
  calendar: string;
  timeZone: string;
  /** RFC 3339, as the clocks of the calendar's zone show it. */
  start: string;
  end: string;
  seats: number;
  createdAt: string;
  /** What was paid for it, as people read it; absent where nothing was. */
  paid?: string;
};

/** To the visitor. */
export function bookingConfirmed(
  { cancelUrl, ...facts }: BookingFacts & { cancelUrl: string },
  { baseUrl }: { baseUrl: string },
): WrittenMail {
  const when = whenOf(facts);
  const written = write({
    subject: `Booked: ${facts.service}, ${when}`,
    preview: `Your booking on ${facts.hostname} is confirmed.`,
    heading: 'Your booking is confirmed',
    blocks: [
      { facts: factsTable(facts) },
      'The attached file puts it into your calendar.',
      'You cannot come? Cancel it, so that somebody else can have the place. The page asks once more before it does.',
      { button: { label: 'Cancel the booking', url: cancelUrl } },
    ],
    footer: `You get this because this address was given for a booking on ${facts.hostname}. If it was not you, cancel it.`,
  });
  const content = calendarFile({
    uid: `${facts.id}@${new URL(baseUrl).hostname}`,
    stamp: facts.createdAt,
    start: facts.start,
    end: facts.end,
    summary: `${facts.service} (${facts.hostname})`,
    description: `Reference ${facts.reference}\nTo cancel: ${cancelUrl}`,
    location: facts.calendar,
    url: facts.address,
  });
  return {
    ...written,
    attachments: [{ filename: 'booking.ics', contentType: 'text/calendar; charset=utf-8', content }],
  };
}

/** To who is told on the site. Answers to it go to the visitor. */
export function bookingTaken({
  visitor,
  intake,
  ...facts
}: BookingFacts & {
  visitor: { name: string; email: string };
  intake: readonly (readonly [label: string, answer: string])[];
}): WrittenMail {
  return write({
    subject: `New booking: ${facts.service}, ${whenOf(facts)}`,
    preview: `${visitor.name} booked on ${facts.hostname}.`,
    heading: `A booking on ${facts.hostname}`,
    blocks: [
      { facts: [...factsTable(facts), ['Name', visitor.name], ['Address', visitor.email]] },
      ...(intake.length > 0 ? ['What the visitor was asked, and answered:', { facts: intake }] : []),
      'Answer this mail to write to the visitor. Keep it: their address stands in no other place of ours once this is sent.',
      `Your agent can cancel it with POST /v1/bookings/${facts.id}/cancel.`,
    ],
    footer: `You get this because bookings on ${facts.hostname} are told to this address.`,
  });
}

/** To who is told on the site, or to a visitor whose confirmation had not left yet. */
export function bookingCancelled({
  to,
  visitorName,
  moneyBack = null,
  moneyOwed = null,
  ...facts
}: BookingFacts & {
  to: 'site' | 'visitor';
  visitorName: string;
  /** What was paid and goes back by itself; what was paid and can be given back by who has it alone. */
  moneyBack?: string | null;
  moneyOwed?: string | null;
}): WrittenMail {
  const forSite = to === 'site';
  return write({
    subject: `Cancelled: ${facts.service}, ${whenOf(facts)}`,
    preview: forSite ? `${visitorName} cancelled. The time is free again.` : 'This booking does not stand any more.',
    heading: forSite ? `A booking on ${facts.hostname} was cancelled` : 'Your booking was cancelled',
    blocks: [
      forSite
        ? `${visitorName} cancelled this booking. The time is free again.`
        : `${facts.hostname} cancelled this booking.`,
      ...(moneyBack === null ? [] : [`The ${moneyBack} that was paid goes back to where it came from.`]),
      ...(moneyOwed === null ? [] : [forSite ? owedBySite(moneyOwed) : owedToVisitor(moneyOwed, facts)]),
      { facts: factsTable(facts) },
      ...(forSite ? [] : [`To book another time, or to ask why: ${facts.address}`]),
    ],
    footer: forSite
      ? `You get this because bookings on ${facts.hostname} are told to this address.`
      : `You get this because this address was given for a booking on ${facts.hostname}.`,
  });
}

const owedBySite = (sum: string) =>
  `The ${sum} that was paid is owed to the visitor, and cannot be given back from here: the payout account that it went into is not used here any more. ` +
  'The money is not lost: the owner of that account can refund it in their own dashboard at the payment provider.';

const owedToVisitor = (sum: string, { hostname }: BookingFacts) =>
  `You paid ${sum}. ${hostname} has to give that back to you by itself: please ask them for it.`;

export function factsTable(facts: BookingFacts): (readonly [string, string])[] {
  return [
    ['What', facts.service],
    ['With', facts.calendar],
    ['When', `${whenOf(facts)} to ${timeOf(facts.end, facts)}`],
    ['Time zone', `${facts.timeZone} (UTC${facts.start.slice(19)})`],
    ...(facts.seats > 1 ? [['Seats', String(facts.seats)] as const] : []),
    ['Reference', facts.reference],
    ...(facts.paid === undefined ? [] : [['Paid', facts.paid] as const]),
  ];
}

export function whenOf(facts: Pick<BookingFacts, 'start' | 'timeZone'>): string {
  const day = new Intl.DateTimeFormat('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: facts.timeZone,
  });
  return `${day.format(new Date(facts.start))}, ${timeOf(facts.start, facts)}`;
}

function timeOf(moment: string, { timeZone }: Pick<BookingFacts, 'timeZone'>): string {
  return new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone }).format(new Date(moment));
}
