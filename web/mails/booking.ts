/**
 * Mails about a booking: to the visitor, with a calendar file, and to the site's address for booking notices. The subject
 * of one to a visitor contains no text of the site's owner.
 */
import { calendarFile } from './calendar-file.ts';
import { type WrittenMail, write } from './layout.ts';

export type BookingFacts = {
  id: string;
  reference: string;
  /** The site's canonical host name and URL. */
  hostname: string;
  address: string;
  /** The site's title, which its owner chose. Absent in e-mails of earlier releases. */
  title?: string;
  service: string;
  calendar: string;
  timeZone: string;
  /** RFC 3339, with the offset of the calendar's time zone. */
  start: string;
  end: string;
  seats: number;
  createdAt: string;
  /** The formatted amount paid; absent if nothing was paid. */
  paid?: string;
};

/** To the visitor. */
export function bookingConfirmed(
  { cancelUrl, ...facts }: BookingFacts & { cancelUrl: string },
  { baseUrl }: { baseUrl: string },
): WrittenMail {
  const written = write({
    subject: `Booked for ${whenOf(facts)}`,
    hostname: facts.hostname,
    preview: `Your booking on ${facts.hostname} is confirmed.`,
    heading: 'Your booking is confirmed',
    blocks: [
      { facts: factsTable(facts) },
      'Open the attached file to add the booking to your calendar.',
      'Can’t make it? Please cancel the booking so that someone else can have the time. You will be asked to confirm.',
      { button: { label: 'Cancel the booking', url: cancelUrl } },
    ],
    footer: `You are receiving this e-mail because this address was given for a booking on ${facts.hostname}. If you did not make this booking, please cancel it.`,
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

/** To the site's address for booking notices. Replies go to the visitor. */
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
    hostname: facts.hostname,
    preview: `${visitor.name} booked on ${facts.hostname}.`,
    heading: `New booking on ${facts.hostname}`,
    blocks: [
      { facts: [...factsTable(facts), ['Name', visitor.name], ['E-mail', visitor.email]] },
      ...(intake.length > 0 ? ['The visitor’s answers:', { facts: intake }] : []),
      'Reply to this e-mail to write to the visitor. Keep this e-mail: we do not store the visitor’s address after sending it.',
      `Need to cancel the booking? Ask your agent, and mention the reference ${facts.reference}.`,
    ],
    footer: `You are receiving this e-mail because booking notices for ${facts.hostname} are sent to this address.`,
  });
}

/** To the site's address for booking notices, or to a visitor whose confirmation was not yet sent. */
export function bookingCancelled({
  to,
  visitorName,
  moneyBack = null,
  moneyOwed = null,
  ...facts
}: BookingFacts & {
  to: 'site' | 'visitor';
  visitorName: string;
  /** The amount being refunded automatically, and the amount that only the owner of the payout account can refund. */
  moneyBack?: string | null;
  moneyOwed?: string | null;
}): WrittenMail {
  const forSite = to === 'site';
  return write({
    subject: forSite ? `Cancelled: ${facts.service}, ${whenOf(facts)}` : `Cancelled: ${whenOf(facts)}`,
    hostname: facts.hostname,
    preview: forSite ? `${visitorName} cancelled. The time is available again.` : 'Your booking was cancelled.',
    heading: forSite ? `A booking on ${facts.hostname} was cancelled` : 'Your booking was cancelled',
    blocks: [
      forSite
        ? `${visitorName} cancelled this booking. The time is available again.`
        : `${facts.hostname} cancelled this booking.`,
      ...(moneyBack === null
        ? []
        : [
            forSite
              ? `The visitor’s payment of ${moneyBack} is being refunded.`
              : `Your payment of ${moneyBack} is being refunded. It can take a few days to reach you.`,
          ]),
      ...(moneyOwed === null ? [] : [forSite ? owedBySite(moneyOwed) : owedToVisitor(moneyOwed, facts)]),
      { facts: factsTable(facts) },
      ...(forSite ? [] : [`To book another time or ask why, go to ${facts.address}`]),
    ],
    footer: forSite
      ? `You are receiving this e-mail because booking notices for ${facts.hostname} are sent to this address.`
      : `You are receiving this e-mail because this address was given for a booking on ${facts.hostname}.`,
  });
}

const owedBySite = (sum: string) =>
  `The visitor paid ${sum}, which must be refunded. We cannot refund it for you, because the payout account that received it is no longer connected. ` +
  'The owner of that account can refund it in the payment provider’s dashboard.';

const owedToVisitor = (sum: string, { hostname }: BookingFacts) =>
  `You paid ${sum}. ${hostname} has to refund you directly: please contact them about the refund.`;

export function factsTable(facts: BookingFacts): (readonly [string, string])[] {
  return [
    ...(facts.title ? [['Website', facts.title] as const] : []),
    ['What', facts.service],
    ['Calendar', facts.calendar],
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
