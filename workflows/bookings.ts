/**
 * holdBooking: seats held for a visitor who has yet to pay, from the call until they are paid for, cancelled or past their time.
 *
 * Key: `booking:<booking>`. The row decides at each moment what the booking is, its deadline included, so seats are free to the instant;
 * this workflow writes down that the hold has run out, which forgets the visitor's address, and shows an operator what is waited for. If it
 * is stuck or terminated: nothing is oversold and no seat is lost, for every reader judges the deadline by itself.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { watchRow } from './deadlines.ts';
import * as policies from './policies.ts';

const { settleHold } = proxyActivities<Activities>(policies.quick);

export async function holdBooking({ bookingId }: { bookingId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settleHold.executeWithOptions({ summary: 'is it still held?' }, [bookingId]),
    () => 'Waits to be paid for, to be cancelled, or for the end of its time.',
  );
}
