/** To a visitor whose seats are held until they pay: the link to the payment page. */
import { momentFor } from '#rules/bookings/written-times.ts';
import { type BookingFacts, factsTable, whenOf } from './booking.ts';
import { type WrittenMail, write } from './layout.ts';

export function bookingHeld({
  total,
  payUrl,
  holdExpiresAt,
  ...facts
}: BookingFacts & {
  /** The formatted amount to pay. */
  total: string;
  payUrl: string;
  /** RFC 3339. */
  holdExpiresAt: string;
}): WrittenMail {
  const until = momentFor(holdExpiresAt, facts.timeZone, facts.visitorZone);
  return write({
    subject: `Pay to confirm your booking for ${whenOf(facts)}`,
    hostname: facts.hostname,
    preview: `Pay ${total} by ${until}.`,
    heading: 'Your booking is waiting for your payment',
    blocks: [
      `We are holding this time for you. Pay ${total} to confirm your booking.`,
      { facts: [['Pay by', until], ...factsTable(facts)] },
      { button: { label: `Pay ${total}`, url: payUrl } },
      'If you have already paid, you do not need to do anything: we will send you a confirmation.',
    ],
    footer: `You are receiving this e-mail because this address was given for a booking on ${facts.hostname}. If you did not make this booking, ignore this e-mail: nothing is charged.`,
  });
}
