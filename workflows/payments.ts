/**
 * settlePayment: a payment, from the call that creates it until it is paid or expired and no checkout session is open.
 *
 * Key: `payment:<payment>`. The row holds the state of the payment. This workflow polls the provider for the outcome of each session (on the
 * payer's return, after a webhook, and at growing intervals), and expires sessions that are no longer needed. If it is stuck, the ledger check
 * notices a charge within the hour. If it is terminated, the hourly ledger check does its work; it cannot be started again under the same id.
 *
 * refundPayment: the refund of one charge, or of a part of it.
 *
 * Key: `refund:<key of the refund>`. It is retried for days, with one idempotency key until the provider refuses it and then with the next.
 * After that it is given up, and the ledger check reports the charge. A refund that is pending at the provider is waited for without a limit.
 * If it is terminated, the ledger check does its work.
 */

import { ActivityFailure, continueAsNew, proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { hourMs } from '#rules/time.ts';
import * as policies from './policies.ts';
import { watchRow } from './watch-row.ts';

const { settlePayment: settle } = proxyActivities<Activities>(policies.provider);
const { giveUpRefund } = proxyActivities<Activities>(policies.quick);
const { giveBackCharge } = proxyActivities<Activities>(policies.refund);
const { checkLedger: check } = proxyActivities<Activities>(policies.ledger);

export async function settlePayment({ paymentId }: { paymentId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settle.executeWithOptions({ summary: 'poll the checkout sessions' }, [paymentId]),
    (status) => (status === 'open' ? 'Waiting for payment.' : 'Waiting for the last checkout session to close.'),
    { slackMs: 200, continueAsNew: () => continueAsNew<typeof settlePayment>({ paymentId }) },
  );
}

const pollIntervalMs = { first: 60_000, most: 6 * hourMs };

/** `refundKey` identifies the refund of the charge, or of a part: a later refund has another key. */
export async function refundPayment(input: { attemptId: string; refundKey?: string }): Promise<{ status: string }> {
  const { attemptId, refundKey } = input;
  try {
    for (let waitMs = pollIntervalMs.first; ; waitMs = Math.min(2 * waitMs, pollIntervalMs.most)) {
      setCurrentDetails('Requesting the refund from the provider, with retries.');
      const status = await giveBackCharge.executeWithOptions({ summary: 'request the refund' }, [attemptId, refundKey]);
      setCurrentDetails(
        status === 'pending' ? 'Pending with the provider; waiting for completion.' : `Ended: **${status}**.`,
      );
      if (status !== 'pending') return { status };
      await sleep(waitMs);
    }
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    setCurrentDetails('Abandoned: **an operator needs to check it**.');
    return { status: await giveUpRefund(attemptId, refundKey) };
  }
}

/** checkLedger: compares charges with payments, and payments with bookings; runs each hour as `schedule:check-ledger`. It has no state. */
export async function checkLedger(): Promise<{ charges: number; flagged: number }> {
  const { charges, flagged } = await check();
  setCurrentDetails(flagged > 0 ? `**${flagged}** findings: an operator needs to check them.` : 'All in order.');
  return { charges, flagged };
}
