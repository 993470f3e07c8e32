/** Whether a site can accept payments now: checked for payments, bookings with a price, and their description. */

import { missing } from '#api/capabilities.ts';
import type { EntityManager } from '#db/orm.ts';
import { agreementOf } from '#db/payouts/credentials.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/**
 * The payout account that receives the site's payments, or the error for the site's owner and collaborators: `payouts_disabled` and similar,
 * `no_payout_account`, `payout_account_gone`, `payout_account_pending`, `payout_account_no_currency`.
 */
export async function payoutDestination(
  em: EntityManager,
  { config }: Pick<Deps, 'config'>,
  site: Pick<Site, 'id'>,
): Promise<{ account: PayoutAccount } | { refusal: AppError }> {
  const off = missing(config, 'payouts');
  if (off) return { refusal: off };
  const account = (await agreementOf(em, site))?.payoutAccount;
  if (!account) return { refusal: noPayoutAccount(site) };
  const refusal = refusalOf(account, site);
  return refusal ? { refusal } : { account };
}

/** The payout account for a booking with a price; null if the site cannot accept payments now. */
export async function activePayoutAccount(
  em: EntityManager,
  deps: Pick<Deps, 'config'>,
  site: Pick<Site, 'id'>,
): Promise<PayoutAccount | null> {
  const destination = await payoutDestination(em, deps, site);
  return 'account' in destination ? destination.account : null;
}

const noPayoutAccount = (site: Pick<Site, 'id'>) =>
  errors.no_payout_account('This site cannot accept payments yet because it has no payout account.', {
    nextAction: `Call ${call('payout_agreement.attach', { id: site })} with the id of one of your payout accounts.`,
  });

function refusalOf({ status, currency, blockReason }: PayoutAccount, site: Pick<Site, 'id'>): AppError | undefined {
  if (status === 'gone') {
    return errors.payout_account_gone('This site’s payout account was removed.', {
      nextAction: `Call ${call('payout_agreement.attach', { id: site })} with another payout account.`,
    });
  }
  if (blockReason != null) {
    return errors.payout_account_pending('This site’s payout account cannot accept payments at the moment.', {
      nextAction: 'Ask the owner of the payout account for the reason, which the platform has e-mailed to them.',
    });
  }
  if (status === 'pending') {
    return errors.payout_account_pending('This site’s payout account cannot accept payments yet.', {
      nextAction: `Call ${call('payout.list')}; waiting_for lists what is missing.`,
    });
  }
  if (currency) return undefined;
  return errors.payout_account_no_currency('The currency of this site’s payout account is not known yet.', {
    nextAction: 'Try again later: the platform checks the currency regularly.',
  });
}
