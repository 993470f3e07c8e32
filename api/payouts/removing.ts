/** A payout account that is used no more. */
import { LockMode } from '@mikro-orm/core';
import { PayoutAccount } from '../../db/entities/payout-account.ts';
import { PayoutOnboarding } from '../../db/entities/payout-onboarding.ts';
import type { EntityManager } from '../../db/orm.ts';
import { endAgreements, withdrawOffers } from '../../db/payout-offers.ts';
import type { Deps } from '../../deps.ts';
import type { Person } from '../access.ts';
import { loadPayoutAccount } from './rules.ts';

/**
 * Ends its agreements, offers and links, destroys its key, and leaves the row as `gone`. Removing it again changes nothing. Money that it
 * has taken stays where it is: its owner gives that back in his own dashboard.
 */
export async function removePayoutAccount(
  em: EntityManager,
  { clock }: Deps,
  person: Person,
  id: string,
): Promise<PayoutAccount> {
  await loadPayoutAccount(em, person, id);
  return await em.transactional(async (tx) => {
    const account = await tx.findOneOrFail(
      PayoutAccount,
      { id },
      { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
    );
    if (account.status === 'gone') return account;
    const now = clock.now();
    await endAgreements(tx, { payoutAccount: id }, { by: 'payout_account', now });
    await withdrawOffers(tx, clock, { payoutAccount: id });
    await tx.nativeDelete(PayoutOnboarding, { payoutAccount: id });
    return tx.assign(account, { status: 'gone', goneAt: now, sealedKey: null, waitingFor: [] });
  });
}
