/** An account's payouts, for the response and the account page. */
import { z } from 'zod';
import { capabilitiesOf } from '#api/capabilities.ts';
import type { EntityManager } from '#db/orm.ts';
import { openOffersFor } from '#db/payouts/offer-transitions.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { PayoutOffer } from '#db/payouts/payout-offer.ts';
import { payoutRails } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { payoutAccountSchema, payoutAccountView } from './schemas.ts';

export type PayoutsOfAccount = { accounts: PayoutAccount[]; offersToAnswer: number };

/** Accounts that were not removed, newest first. Empty if payouts are disabled. */
export async function payoutsOf(
  em: EntityManager,
  { config, clock }: Pick<Deps, 'config' | 'clock'>,
  accountId: string,
): Promise<PayoutsOfAccount> {
  if (!capabilitiesOf(config).payouts) return { accounts: [], offersToAnswer: 0 };
  const notRemoved = { account: accountId, status: { $ne: 'gone' as const } };
  return {
    accounts: await em.find(PayoutAccount, notRemoved, { orderBy: { id: 'desc' } }),
    offersToAnswer: await em.count(PayoutOffer, openOffersFor(accountId, clock.now())),
  };
}

const summaryFields = { id: true, name: true, status: true, currency: true, waiting_for: true } as const;
const accountSummary = payoutAccountSchema.pick(summaryFields);

export const payoutsSchema = z
  .object({ enabled: z.boolean(), rails: z.array(z.enum(payoutRails)), accounts: z.array(accountSummary) })
  .describe('The payout accounts that receive visitors’ payments.');

export function payoutsView({ accounts }: PayoutsOfAccount, config: Config): z.output<typeof payoutsSchema> {
  const enabled = capabilitiesOf(config).payouts;
  return {
    enabled,
    rails: enabled ? [...(config.payouts?.rails ?? [])] : [],
    accounts: accounts.map((account) => accountSummary.parse(payoutAccountView(account, 0))),
  };
}
