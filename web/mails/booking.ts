/**
 * Mails about a booking: to the visitor, with a calendar file, and to the site's address for booking notices. The subject
 * of one to a visitor contains no text of the site's owner.
 */
import { isoLocal } from '#rules/bookings/time-zones.ts';
import { dateIn, isElsewhere, momentIn, timesIn } from '#rules/bookings/written-times.ts';
import { calendarFile } from './calendar-file.ts';
import { accountButton, type Block, type Reach, reachBlocks, type WrittenMail, write } from './layout.ts';

export type BookingFacts = Reach & {
  id: string;
  reference: string;
  /** The site's canonical host name. */
  hostname: string;
  /** The site's title, which its owner chose. Absent in e-mails of earlier releases. */
  title?: string;
  service: string;
  calendar: string;
  timeZone: string;
  /** RFC 3339, with the offset of the calendar's time zone. */
  start: string;
  end: string;
  seats: number;
  /** Where it takes place; `link` only of a confirmed booking. */
  place?: string;
  link?: string;
  createdAt: string;
  /** Of a moved booking: how often, and when last. */
  moves?: number;
  movedAt?: string;
  /** The formatted amount paid; absent if nothing was paid. */
  paid?: string;
  /** The visitor's own time zone, if it is known and the mail is to them. */
  visitorZone?: string;
};

/** `account`: the owner's page, if the mail goes to the site's people. */
export type OfNotice = BookingFacts & { account?: string | null };

/** To the visitor. */
export function bookingConfirmed(
  {
    cancelUrl,
    isNotified = false,
    isReminded = false,
    ...facts
  }: BookingFacts & { cancelUrl: string; isNotified?: boolean; isReminded?: boolean },
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
      ...(isReminded ? ['We will remind you the day before.'] : []),
      ...(isNotified ? ['We will e-mail you if this booking changes or is cancelled.'] : []),
      ...changeBlocks(cancelUrl),
    ],
    footer: `You are receiving this e-mail because this address was given for a booking on ${facts.hostname}. If you did not make this booking, please cancel it.`,
  });
  return { ...written, attachments: [eventAttachment(facts, { cancelUrl, baseUrl })] };
}

/** How a visitor changes or cancels the booking. */
export const changeBlocks = (url: string): Block[] => [
  'Can’t make it? Please choose another time or cancel the booking, so that someone else can have this time. You will be asked to confirm.',
  { button: { label: 'Change or cancel the booking', url } },
];

/** The booking as a calendar file. One of a moved booking updates the event of the first. */
export function eventAttachment(facts: BookingFacts, { cancelUrl, baseUrl }: { cancelUrl: string; baseUrl: string }) {
  const link = facts.link ? `\nLink: ${facts.link}` : '';
  const content = calendarFile({
    uid: `${facts.id}@${new URL(baseUrl).hostname}`,
    stamp: facts.movedAt ?? facts.createdAt,
    sequence: facts.moves ?? 0,
    start: facts.start,
    end: facts.end,
    summary: `${facts.service} (${facts.hostname})`,
    description: `Reference ${facts.reference}${link}\nTo change or cancel: ${cancelUrl}`,
    location: facts.place ?? facts.link ?? facts.calendar,
    url: facts.link ?? facts.address,
  });
  return { filename: 'booking.ics', contentType: 'text/calendar; charset=utf-8', content };
}

/** The button to the owner's page of the booking. */
export const bookingButton = (account: string | null | undefined) => accountButton(account, 'See the booking');

/** To the site's address for booking notices. Replies go to the visitor. */
export function bookingTaken({
  visitor,
  intake,
  isVisitorNotified = false,
  account,
  ...facts
}: OfNotice & {
  visitor: { name: string; email: string };
  intake: readonly (readonly [label: string, answer: string])[];
  /** Whether the visitor asked to be notified of changes. */
  isVisitorNotified?: boolean;
}): WrittenMail {
  return write({
    subject: `New booking: ${facts.service}, ${whenOf(facts)}`,
    hostname: facts.hostname,
    preview: `${visitor.name} booked on ${facts.hostname}.`,
    heading: `New booking on ${facts.hostname}`,
    blocks: [
      { facts: [...factsTable(facts), ['Name', visitor.name], ['E-mail', visitor.email]] },
      ...(intake.length > 0 ? ['The visitor’s answers:', { facts: intake }] : []),
      `Reply to this e-mail to write to the visitor. Keep this e-mail: ${isVisitorNotified ? 'we e-mail the visitor if the booking changes, but cannot show you the address again.' : 'we do not store the visitor’s address, so if the booking changes, you have to tell them.'}`,
      `${account ? 'You can move or cancel the booking on its page. Or ask' : 'To move or cancel the booking, ask'} your agent, and mention the reference ${facts.reference}.`,
      ...bookingButton(account),
    ],
    footer: `You are receiving this e-mail because booking notices for ${facts.hostname} are sent to this address.`,
  });
}

type OfCancellation = OfNotice & {
  to: 'site' | 'visitor';
  visitorName: string;
  /** The amount being refunded automatically, and the amount that only the owner of the payout account can refund. */
  moneyBack?: string | null;
  moneyOwed?: string | null;
  /** What was refunded earlier. Absent in e-mails of earlier releases. */
  moneyBefore?: string | null;
  by?: 'visitor' | 'site';
  /** Whether the visitor gets this mail too. */
  isVisitorNotified?: boolean;
  /** Whether an e-mail about the new booking was sent, to which one can reply. */
  wasNoticed?: boolean;
};

/** To the site's address for booking notices, and to a visitor who is notified. */
export function bookingCancelled({
  to,
  visitorName,
  moneyBack = null,
  moneyOwed = null,
  moneyBefore = null,
  by = to === 'site' ? 'visitor' : 'site',
  isVisitorNotified = true,
  wasNoticed = true,
  account,
  ...facts
}: OfCancellation): WrittenMail {
  const forSite = to === 'site';
  return write({
    subject: forSite ? `Cancelled: ${facts.service}, ${whenOf(facts)}` : `Cancelled: ${whenOf(facts)}`,
    hostname: facts.hostname,
    preview: forSite ? `The booking of ${visitorName || 'a visitor'} was cancelled.` : 'Your booking was cancelled.',
    heading: forSite ? `A booking on ${facts.hostname} was cancelled` : 'Your booking was cancelled',
    blocks: [
      `${by === 'site' ? facts.hostname : forSite ? visitorName : 'You'} cancelled this booking.${forSite && by === 'visitor' ? ' The time is available again.' : ''}`,
      ...(forSite && by === 'site'
        ? [isVisitorNotified ? notifiedVisitor : unnotifiedVisitor(visitorName, facts, wasNoticed)]
        : []),
      ...(moneyBack === null ? [] : [refunding(forSite, moneyBack, moneyBefore)]),
      ...(moneyOwed === null
        ? []
        : [forSite ? owedBySite(moneyOwed, moneyBefore) : owedToVisitor(moneyOwed, moneyBefore, facts)]),
      { facts: factsTable(facts) },
      ...(forSite ? bookingButton(account) : reachBlocks(facts, 'book another time or ask why', 'ask why')),
    ],
    footer: forSite
      ? `You are receiving this e-mail because booking notices for ${facts.hostname} are sent to this address.`
      : `You are receiving this e-mail because this address was given for a booking on ${facts.hostname}.`,
  });
}

const notifiedVisitor = 'We are notifying the visitor by e-mail.';

function unnotifiedVisitor(name: string, { reference }: BookingFacts, wasNoticed: boolean): string {
  const how = wasNoticed
    ? `: reply to the e-mail “New booking” with the reference ${reference}; your reply goes to the visitor.`
    : '.';
  return `We cannot tell ${name || 'the visitor'}, whose address we do not store. Please tell them yourself${how}`;
}

function refunding(forSite: boolean, sum: string, before: string | null): string {
  const what = before === null ? `${forSite ? 'The visitor’s' : 'Your'} payment of ${sum}` : restOf(forSite, sum);
  const how = forSite
    ? 'When that is complete, we e-mail the payer about it, if the payment provider has an address.'
    : 'It can take a few days to reach you.';
  return `${what} is being refunded${earlier(before)}. ${how}`;
}

function owedBySite(sum: string, before: string | null): string {
  const what = before === null ? `The visitor paid ${sum}, which` : restOf(true, sum);
  return `${what} must be refunded${earlier(before)}. We cannot refund it for you, because the payout account that received it is no longer connected. The owner of that account can refund it in the payment provider’s dashboard.`;
}

function owedToVisitor(sum: string, before: string | null, { hostname }: BookingFacts): string {
  const what = before === null ? `You paid ${sum}` : `${restOf(false, sum)} must be refunded${earlier(before)}`;
  return `${what}. ${hostname} has to refund you directly: please contact them about the refund.`;
}

const restOf = (forSite: boolean, sum: string) =>
  `The remaining ${sum} of ${forSite ? 'the visitor’s' : 'your'} payment`;
const earlier = (before: string | null) => (before === null ? '' : `; ${before} was refunded before`);

export function factsTable(facts: BookingFacts): (readonly [string, string])[] {
  return [
    ...(facts.title ? [['Website', facts.title] as const] : []),
    ['What', facts.service],
    ['Calendar', facts.calendar],
    ['When', spanIn(facts.timeZone, facts)],
    ...(isVisitorElsewhere(facts) ? [['In your time zone', spanIn(facts.visitorZone, facts)] as const] : []),
    ...(facts.place === undefined ? [] : [['Where', facts.place] as const]),
    ...(facts.link === undefined ? [] : [['Link', facts.link] as const]),
    ...(facts.seats > 1 ? [['Seats', String(facts.seats)] as const] : []),
    ['Reference', facts.reference],
    ...(facts.paid === undefined ? [] : [['Paid', facts.paid] as const]),
  ];
}

/** When it starts, in the calendar's time zone, which is named. */
export function whenOf({ start, timeZone }: Pick<BookingFacts, 'start' | 'timeZone'>): string {
  return momentIn(start, timeZone);
}

/** Whether the visitor's clock differs from the calendar's at the start or at the end. */
function isVisitorElsewhere(facts: BookingFacts): facts is BookingFacts & { visitorZone: string } {
  const { visitorZone, timeZone, start, end } = facts;
  return visitorZone !== undefined && isElsewhere([start, end], timeZone, visitorZone);
}

/** From start to end, with the date of the end where it differs, and the zone with its offset at the start. */
function spanIn(timeZone: string, { start, end }: Pick<BookingFacts, 'start' | 'end'>): string {
  const offset = isoLocal(timeZone, Date.parse(start)).slice(19);
  return `${dateIn(start, timeZone)}, ${timesIn({ start, end }, timeZone)}, ${timeZone} (UTC${offset})`;
}
