/**
 * settlePayment: a payment from the call that opens it until it is paid or over, and no page is open on which somebody could pay.
 *
 * Key: `payment:<payment>`. The row decides at each moment what the payment is; this workflow asks the provider how each page ended (on the payer's
 * return, when a signed message came, and after a growing while), and closes pages on which nothing is to be paid any more. If it is stuck: a
 * charge is noticed by the ledger check, within the hour. If it is terminated: start it again, by the outbox row of its start.
 *
 * refundPayment: one charge on its way back.
 *
 * Key: `refund:<key of the refund>`. Repeated with one idempotency key for days, until the provider has done it; then it is given up, and the ledger
 * check names the charge. If it is terminated: the ledger check starts it again.
 */
import {
  ActivityFailure,
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { moved } from './deadlines.ts';
import * as policies from './policies.ts';

const { settlePayment: settle, giveUpRefund } = proxyActivities<Activities>(policies.provider);
const { giveBackCharge } = proxyActivities<Activities>(policies.refund);
const { checkLedger: check } = proxyActivities<Activities>(policies.bookkeeping);

export async function settlePayment({ paymentId }: { paymentId: string }): Promise<{ status: string }> {
  let isMoved = false;
  setHandler(moved, () => {
    isMoved = true;
  });
  for (;;) {
    isMoved = false;
    const payment = await settle.executeWithOptions({ summary: 'how did its pages end?' }, [paymentId]);
    if (payment.settled) {
      setCurrentDetails(`Ended: **${payment.status}**.`);
      return { status: payment.status };
    }
    setCurrentDetails(payment.status === 'open' ? 'Waits to be paid.' : 'Waits for its last page to be closed.');
    // The server's clock and ours differ a little: a moment later it is time for both.
    await condition(() => isMoved, payment.leftMs + 200);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof settlePayment>({ paymentId });
  }
}

export async function refundPayment({ attemptId }: { attemptId: string }): Promise<{ status: string }> {
  try {
    setCurrentDetails('Asks the provider to give the charge back, again and again.');
    const status = await giveBackCharge.executeWithOptions({ summary: 'give the charge back' }, [attemptId]);
    setCurrentDetails(`Ended: **${status}**.`);
    return { status };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    setCurrentDetails('Given up: **a person has to look**.');
    return { status: await giveUpRefund(attemptId) };
  }
}

/** checkLedger: charges held against payments, and payments against bookings; runs each hour as `schedule:check-ledger`. It keeps no state. */
export async function checkLedger(): Promise<{ charges: number; flagged: number }> {
  const { charges, flagged } = await check();
  setCurrentDetails(flagged > 0 ? `**${flagged}** findings: a person has to look.` : 'All in order.');
  return { charges, flagged };
}
