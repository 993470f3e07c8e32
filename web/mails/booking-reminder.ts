/** The day before a booking, to a visitor who asked to be reminded. */
import { type BookingFacts, changeBlocks, factsTable, whenOf } from './booking.ts';
import { type WrittenMail, write } from './layout.ts';

export function bookingReminder({ cancelUrl, ...facts }: BookingFacts & { cancelUrl: string }): WrittenMail {
  return write({
    subject: `Reminder: ${whenOf(facts)}`,
    hostname: facts.hostname,
    preview: `Your booking on ${facts.hostname} begins soon.`,
    heading: 'Your booking begins soon',
    blocks: [{ facts: factsTable(facts) }, ...changeBlocks(cancelUrl)],
    footer: `You are receiving this e-mail because you asked to be reminded of a booking on ${facts.hostname}.`,
  });
}
