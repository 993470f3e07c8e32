/** The steps of what goes on by itself about payouts: offers that run out, and accounts that are asked for. */
import { settleOffer } from '#db/payouts/offer-transitions.ts';
import { refreshPayoutAccounts } from '#db/payouts/provider-status.ts';
import type { Deps } from '#runtime/deps.ts';

export function payoutActivities(deps: Deps) {
  return {
    settleOffer: (id: string) => settleOffer(deps.em(), deps.clock.now(), id),
    /** Asks the provider what payout accounts may do that were not asked for lately. */
    askForPayoutAccounts: () => refreshPayoutAccounts(deps),
  };
}
