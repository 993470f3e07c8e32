/**
 * holdBooking: seats held for a visitor who has not paid yet, from the call until payment, cancellation or expiry.
 *
 * Key: `booking:<booking>`. The row holds the state of the booking, its deadline included, so seats are free at that instant. This workflow
 * records the expiry, which deletes the visitor's address, and shows an operator what it waits for. If it is stuck or terminated, no seat is
 * oversold or lost: every reader checks the deadline itself, and the hourly `sweep` records the expiry.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';
import { watchRow } from './watch-row.ts';

const { settleHold } = proxyActivities<Activities>(policies.quick);

export async function holdBooking({ bookingId }: { bookingId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settleHold.executeWithOptions({ summary: 'check the hold' }, [bookingId]),
    () => 'Waiting for payment, cancellation or expiry.',
  );
}
