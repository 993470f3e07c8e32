/**
 * expireOffer: an offer of where a site's money lands, from the call until it is answered, taken back or past its time.
 *
 * Key: `offer:<offer>`. The row decides at each moment what the offer is, its end included; this workflow writes down that it has run out, and
 * shows an operator what is waited for. If it is stuck or terminated: nothing is lost, for every reader judges the end by itself.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { watchRow } from './deadlines.ts';
import * as policies from './policies.ts';

const { settleOffer } = proxyActivities<Activities>(policies.quick);
const { askForPayoutAccounts } = proxyActivities<Activities>({
  ...policies.quick,
  startToCloseTimeout: '9 minutes',
  retry: { maximumAttempts: 1 },
});

export async function expireOffer({ offerId }: { offerId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settleOffer.executeWithOptions({ summary: 'is it still open?' }, [offerId]),
    () => 'Waits for the other party’s answer, to be taken back, or for its end.',
  );
}

/**
 * refreshPayoutAccounts: asks the provider what payout accounts may do: each ten minutes of those that wait for something, daily of the others;
 * `schedule:refresh-payout-accounts`. It keeps no state, so a run that fails is followed by the next.
 */
export async function refreshPayoutAccounts(): Promise<{ asked: number; unanswered: number }> {
  return await askForPayoutAccounts();
}
