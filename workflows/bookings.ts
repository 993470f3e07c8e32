/**
 * holdBooking: seats held for a visitor who has yet to pay, from the call until they are paid for, cancelled or past their time.
 *
 * Key: `booking:<booking>`. The row decides at each moment what the booking is, its deadline included, so seats are free to the instant;
 * this workflow writes down that the hold has run out, which forgets the visitor's address, and shows an operator what is waited for. If it
 * is stuck or terminated: nothing is oversold and no seat is lost, for every reader judges the deadline by itself.
 */
import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import * as policies from './policies.ts';

/** The row has moved: read it again. */
export const bookingMoved = defineSignal('moved');

const { settleHold } = proxyActivities<Activities>(policies.quick);

export async function holdBooking({ bookingId }: { bookingId: string }): Promise<{ status: string }> {
  let moved = false;
  setHandler(bookingMoved, () => {
    moved = true;
  });
  for (;;) {
    moved = false;
    const booking = await settleHold.executeWithOptions({ summary: 'is it still held?' }, [bookingId]);
    if (booking.settled) {
      setCurrentDetails(`Ended: **${booking.status}**.`);
      return { status: booking.status };
    }
    setCurrentDetails('Waits to be paid for, to be cancelled, or for the end of its time.');
    // The server's clock and ours differ a little: a second later it has run out for both.
    await condition(() => moved, booking.leftMs + 1000);
  }
}
