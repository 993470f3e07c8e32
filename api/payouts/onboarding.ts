/** Onboarding at the provider: our link, the provider's link behind it, and the return. */

import { type Actor, makerOf } from '#api/access.ts';
import { requireNotStopped } from '#api/accounts/blocked.ts';
import { hashSecret } from '#api/secrets.ts';
import { lifetimeWithin, madeWith } from '#api/tokens/expiry.ts';
import { Account } from '#db/accounts/account.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { PayoutOnboarding } from '#db/payouts/payout-onboarding.ts';
import { refreshPayoutAccount } from '#db/payouts/provider-status.ts';
import { PaymentsFault, providerError } from '#providers/payments.ts';
import { daySeconds } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { paymentsOf } from './keys.ts';
import { loadPayoutAccount, requireRail, requireSettledPayouts, requireUsable } from './rules.ts';

export const secretPrefix = 'frc';

/**
 * Creates the account's link, which replaces an earlier one and ends with the token that made it. Throws
 * `invalid_payout_account`, `payout_account_gone`, `address_change_pending`.
 */
export async function openOnboarding(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  { id, secret }: { id: string; secret: string },
): Promise<PayoutOnboarding> {
  const account = await loadPayoutAccount(em, actor, id);
  requireUsable(account, 'connect');
  requireRail(deps, 'connect');
  await requireSettledPayouts(em, deps, actor);
  const now = deps.clock.now();
  const expiresAt = await lifetimeWithin(em, now, actor, { seconds: undefined, usual: daySeconds });
  const madeBy = makerOf(actor);
  const link = { payoutAccount: account, hash: hashSecret(secret), createdAt: now, expiresAt, madeBy };
  return await madeWith(em, actor, async (tx) => {
    recordAct(tx, deps.clock, actor, 'payout_account.onboarding_started', { subject: account });
    return await tx.upsert(PayoutOnboarding, link);
  });
}

/**
 * The account that the link connects. Throws `not_found`, `expired`, and while its owner is blocked or being deleted
 * `access_denied` or `account_deleting`.
 */
export async function onboardingOf(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  secret: string,
): Promise<PayoutAccount> {
  const link = await em.findOne(PayoutOnboarding, { hash: hashSecret(secret) }, { populate: ['payoutAccount'] });
  if (!link || link.payoutAccount.status === 'gone')
    throw errors.not_found('This link is not valid. Ask for a new one.');
  requireNotStopped(await em.findOneOrFail(Account, { id: link.payoutAccount.account.id }));
  if (link.expiresAt <= clock.now()) throw errors.expired('This link has expired. Ask for a new one.');
  return link.payoutAccount;
}

/**
 * The provider's own link, valid for a few minutes and a single use, so it is never stored. Throws `provider_error`, and
 * `address_change_pending`: a thief of the account may have made our link before they changed its address.
 */
export async function createProviderLink(deps: Deps, account: PayoutAccount, secret: string): Promise<string> {
  await requireSettledPayouts(deps.em(), deps, { accountId: account.account.id });
  const payments = paymentsOf(deps);
  const here = `${deps.config.baseUrl}/connect/${secret}`;
  try {
    const providerAccount = account.providerAccount ?? (await openAtProvider(deps, account.id));
    return await payments.mintOnboardingLink(providerAccount, { returnUrl: `${here}/done`, refreshUrl: here });
  } catch (error) {
    if (error instanceof PaymentsFault) throw providerError(error);
    throw error;
  }
}

/** The first visit creates the account at the provider. The row's id is the idempotency key, so concurrent visits create one. */
async function openAtProvider(deps: Deps, id: string): Promise<string> {
  const { providerAccount } = await paymentsOf(deps).createAccount({ idempotencyKey: `payout-account:${id}` });
  await deps.em().nativeUpdate(PayoutAccount, { id, providerAccount: null, status: 'pending' }, { providerAccount });
  return providerAccount;
}

/** The state of the account after its owner returns. */
export async function stateAfter(deps: Deps, id: string): Promise<PayoutAccount> {
  await refreshPayoutAccount(deps, id);
  return await deps.em().findOneOrFail(PayoutAccount, { id });
}
