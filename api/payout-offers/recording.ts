/** The history of offers and agreements: each of the two parties has an entry of its own. */
import { type ActedBy, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import type { Site } from '#db/sites/site.ts';
import type { Action } from '#rules/history.ts';
import type { Clock } from '#runtime/clock.ts';

type Between = {
  id: string;
  site: Pick<Site, 'id' | 'name' | 'account'>;
  payoutAccount: Pick<PayoutAccount, 'account'>;
};

/**
 * Records an act on an offer or an agreement, for the owners of the site and of the payout account. Where they are two,
 * these are two entries, and a call that is `recordsOnce` has only one.
 */
export function recordBetween(
  tx: EntityManager,
  clock: Clock,
  by: ActedBy,
  action: Extract<Action, `payout_offer.${string}` | `payout_agreement.${string}`>,
  { id, site, payoutAccount }: Between,
): void {
  // The payout account's name is not revealed before an agreement.
  const subject = { id, name: site.name };
  recordAct(tx, clock, by, action, { site, subject });
  const ownerId = payoutAccount.account.id;
  if (ownerId !== site.account.id) recordAct(tx, clock, by, action, { ownerId, subject });
}
