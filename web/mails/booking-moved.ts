/** To the site's address for booking notices, and to a visitor who is notified: a booking has a new time. */
import { momentFor } from '#rules/bookings/written-times.ts';
import { type BookingFacts, bookingButton, changeBlocks, eventAttachment, factsTable, whenOf } from './booking.ts';
import { type WrittenMail, write } from './layout.ts';

/** `by` is absent in e-mails of earlier releases, whose bookings the site's people moved. */
type MovedFacts = BookingFacts & { before: Pick<BookingFacts, 'start' | 'timeZone'>; by?: 'visitor' | 'site' };
type ToSite = {
  to: 'site';
  visitorName: string;
  isVisitorNotified: boolean;
  /** As in the mail about a cancellation. */
  wasNoticed?: boolean;
  account?: string | null;
};
type ToVisitor = { to: 'visitor'; cancelUrl: string };

export function bookingMoved(facts: MovedFacts & (ToSite | ToVisitor), context: { baseUrl: string }): WrittenMail {
  return facts.to === 'site' ? toSite(facts) : toVisitor(facts, context);
}

function toSite({ visitorName, before, by, account, ...facts }: MovedFacts & ToSite): WrittenMail {
  const whose = visitorName ? `The booking of ${visitorName}` : 'A booking';
  const isKnown = by === 'visitor' || !visitorName;
  const what = by === 'visitor' ? `${visitorName} moved this booking.` : `${whose} was moved.`;
  return write({
    subject: `Moved: ${facts.service}, ${whenOf(facts)}`,
    hostname: facts.hostname,
    preview: `${whose} has a new time.`,
    heading: `A booking on ${facts.hostname} was moved`,
    blocks: [
      `${what} The old time, ${whenOf(before)}, is available again.`,
      ...(isKnown
        ? []
        : [facts.isVisitorNotified ? 'We are e-mailing the visitor the new time.' : notMailed(visitorName, facts)]),
      { facts: factsTable(facts) },
      ...bookingButton(account),
    ],
    footer: `You are receiving this e-mail because booking notices for ${facts.hostname} are sent to this address.`,
  });
}

function notMailed(name: string, { reference, wasNoticed = true }: BookingFacts & Pick<ToSite, 'wasNoticed'>): string {
  const how = wasNoticed
    ? `: by phone, or by replying to the e-mail “New booking” with the reference ${reference}; your reply goes to the visitor.`
    : '.';
  return `We cannot e-mail ${name}, whose address we do not store. Please tell them the new time yourself${how}`;
}

function toVisitor(
  { cancelUrl, before, by, ...facts }: MovedFacts & ToVisitor,
  context: { baseUrl: string },
): WrittenMail {
  const written = write({
    subject: `New time: ${whenOf(facts)}`,
    hostname: facts.hostname,
    preview: `Your booking on ${facts.hostname} has a new time.`,
    heading: 'Your booking has a new time',
    blocks: [
      `${by === 'visitor' ? 'You' : facts.hostname} moved your booking. It was on ${momentFor(before.start, before.timeZone, facts.visitorZone)}.`,
      { facts: factsTable(facts) },
      'Open the attached file to update the booking in your calendar.',
      ...changeBlocks(cancelUrl),
    ],
    footer: `You are receiving this e-mail because this address was given for a booking on ${facts.hostname}.`,
  });
  return { ...written, attachments: [eventAttachment(facts, { cancelUrl, ...context })] };
}
