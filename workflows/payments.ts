/**
 * settlePayment: a payment from the call that opens it until it is paid or over, and no page is open on which somebody could pay.
 *
 * Key: `payment:<payment>`. The row decides at each moment what the payment is; this workflow asks the provider how each page ended (on the payer's
 * return, when a signed message came, and after a growing while), and closes pages on which nothing is to be paid any more. If it is stuck: a
 * charge is noticed by the ledger check, within the hour. If it is terminated: start it again, by the outbox row of its start.
 *
 * refundPayment: one charge on its way back.
 *
 * Key: `refund:<key of the refund>`. Asked for again for days, with one idempotency key until the provider refuses it and with the next after that;
 * then it is given up, and the ledger check names the charge. One that the provider has taken up and not done is waited for as long as that lasts.
 * If it is terminated: the ledger check does its work.
 */
import { ActivityFailure, continueAsNew, proxyActivities, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { watchRow } from './deadlines.ts';
import * as policies from './policies.ts';

const { settlePayment: settle } = proxyActivities<Activities>(policies.provider);
const { giveUpRefund } = proxyActivities<Activities>(policies.quick);
const { giveBackCharge } = proxyActivities<Activities>(policies.refund);
const { checkLedger: check } = proxyActivities<Activities>(policies.ledger);

export async function settlePayment({ paymentId }: { paymentId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settle.executeWithOptions({ summary: 'how did its pages end?' }, [paymentId]),
    (status) => (status === 'open' ? 'Waits to be paid.' : 'Waits for its last page to be closed.'),
    { slackMs: 200, goOn: () => continueAsNew<typeof settlePayment>({ paymentId }) },
  );
}

const askedAfterMs = { first: 60_000, most: 6 * 3600_000 };

/** `refundKey` is which refund of the charge: one that took its place is another's. */
export async function refundPayment(input: { attemptId: string; refundKey?: string }): Promise<{ status: string }> {
  const { attemptId, refundKey } = input;
  try {
    for (let waitMs = askedAfterMs.first; ; waitMs = Math.min(2 * waitMs, askedAfterMs.most)) {
      setCurrentDetails('Asks the provider to give the charge back, again and again.');
      const status = await giveBackCharge.executeWithOptions({ summary: 'give the charge back' }, [
        attemptId,
        refundKey,
      ]);
      setCurrentDetails(
        status === 'pending' ? 'Taken up by the provider; waits for it to be done.' : `Ended: **${status}**.`,
      );
      if (status !== 'pending') return { status };
      await sleep(waitMs);
    }
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    setCurrentDetails('Given up: **a person has to look**.');
    return { status: await giveUpRefund(attemptId, refundKey) };
  }
}

/** checkLedger: charges held against payments, and payments against bookings; runs each hour as `schedule:check-ledger`. It keeps no state. */
export async function checkLedger(): Promise<{ charges: number; flagged: number }> {
  const { charges, flagged } = await check();
  setCurrentDetails(flagged > 0 ? `**${flagged}** findings: a person has to look.` : 'All in order.');
  return { charges, flagged };
}
