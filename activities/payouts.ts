/** The payout activities: expiry of offers, and the status of accounts. */
import { settleOffer } from '#db/payouts/offer-transitions.ts';
import { refreshPayoutAccounts } from '#db/payouts/provider-status.ts';
import type { Deps } from '#runtime/deps.ts';

export function payoutActivities(deps: Deps) {
  return {
    settleOffer: (id: string) => settleOffer(deps.em(), deps.clock.now(), id),
    /** Polls the status of payout accounts that were not polled lately. */
    askForPayoutAccounts: () => refreshPayoutAccounts(deps),
  };
}
