/**
 * expireOffer: an offer of a site's payout destination, from the call until it is answered, withdrawn or expired.
 *
 * Key: `offer:<offer>`. The row holds the state of the offer, its expiry included. This workflow records the expiry and shows an operator what
 * it waits for. If it is stuck or terminated, nothing is lost: every reader checks the deadline itself.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';
import { watchRow } from './watch-row.ts';

const { settleOffer } = proxyActivities<Activities>(policies.quick);
const { askForPayoutAccounts } = proxyActivities<Activities>({
  ...policies.quick,
  startToCloseTimeout: '9 minutes',
  retry: { maximumAttempts: 1 },
});

export async function expireOffer({ offerId }: { offerId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settleOffer.executeWithOptions({ summary: 'check the offer' }, [offerId]),
    () => 'Waiting for the other party’s answer, a withdrawal or expiry.',
  );
}

/**
 * refreshPayoutAccounts: polls the provider for the status of payout accounts: incomplete ones each ten minutes, the others daily;
 * `schedule:refresh-payout-accounts`. It has no state: the next run repeats one that failed.
 */
export async function refreshPayoutAccounts(): Promise<{ asked: number; unanswered: number }> {
  return await askForPayoutAccounts();
}
