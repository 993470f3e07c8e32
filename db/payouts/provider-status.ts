/** The state of payout accounts at the provider, copied into their rows. */

import type { EntityManager } from '#db/orm.ts';
import type { AccountState, Payments, PaymentsFault } from '#providers/payments.ts';
import { minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { AppError } from '#runtime/errors.ts';
import { credentialsOf } from './credentials.ts';
import { PayoutAccount } from './payout-account.ts';

export type RefreshDeps = { em(): EntityManager; clock: Clock; config: Config; payments: Payments | undefined };

/** The columns that the provider's response determines. */
export function stateColumns(state: AccountState, now: Date) {
  return {
    providerAccount: state.providerAccount,
    status: state.chargesEnabled ? ('ready' as const) : ('pending' as const),
    currency: state.currency,
    waitingFor: state.waitingFor,
    checkedAt: now,
  };
}

/**
 * Queries the provider for the state of the account and stores it. An account whose credentials it refuses becomes
 * pending. Returns false where it does not respond; the row is then unchanged.
 */
export async function refreshPayoutAccount(
  { em: fork, clock, config, payments }: RefreshDeps,
  id: string,
): Promise<boolean> {
  const em = fork();
  const account = await em.findOne(PayoutAccount, { id });
  if (!payments || !account || account.status === 'gone' || !(account.sealedKey ?? account.providerAccount))
    return true;
  const state = await readState(payments, { config }, account);
  if (!state) return false;
  const columns = 'providerAccount' in state ? stateColumns(state, clock.now()) : { ...state, checkedAt: clock.now() };
  // Not for a key that was replaced meanwhile.
  await em.nativeUpdate(PayoutAccount, { id, status: { $ne: 'gone' }, sealedKey: account.sealedKey ?? null }, columns);
  return true;
}

type Unusable = { status: 'pending'; waitingFor: string[] };

async function readState(
  payments: Payments,
  { config }: Pick<RefreshDeps, 'config'>,
  account: PayoutAccount,
): Promise<AccountState | Unusable | undefined> {
  try {
    return await payments.readAccount(credentialsOf({ config }, account));
  } catch (error) {
    if (error instanceof AppError && error.code === 'payout_key_unreadable') return pendingFor(unreadable);
    const { reason } = error as Partial<PaymentsFault>;
    if (reason === undefined) throw error;
    if (reason === 'unanswered') return undefined;
    return pendingFor(account.rail === 'own_key' ? notAccepted : notConnected);
  }
}

const pendingFor = (what: string): Unusable => ({ status: 'pending', waitingFor: [what] });
const unreadable = 'a new key: the platform can no longer decrypt the stored one';
const notAccepted = 'a new key: the provider no longer accepts the current one';
const notConnected = 'a new connection through its onboarding link';

/** Accounts whose check is due: those that wait for something after `waitingMs`, others after `otherMs`. */
export async function payoutAccountsToCheck(
  em: EntityManager,
  now: Date,
  { owner, waitingMs, otherMs, limit }: { owner?: string; waitingMs: number; otherMs: number; limit: number },
): Promise<string[]> {
  const before = (ms: number) => ({ $or: [{ checkedAt: null }, { checkedAt: { $lt: new Date(now.getTime() - ms) } }] });
  const due = await em.find(
    PayoutAccount,
    {
      ...(owner === undefined ? {} : { account: owner }),
      status: { $ne: 'gone' },
      $and: [
        { $or: [{ sealedKey: { $ne: null } }, { providerAccount: { $ne: null } }] },
        { $or: [before(otherMs), { $and: [{ $or: [{ status: 'pending' }, { currency: null }] }, before(waitingMs)] }] },
      ],
    },
    { fields: ['id'], orderBy: { checkedAt: 'asc nulls first' }, limit },
  );
  return due.map(({ id }) => id);
}

/** The scheduled check. Returns how many accounts were refreshed and how many failed. */
export async function refreshPayoutAccounts(deps: RefreshDeps): Promise<{ asked: number; unanswered: number }> {
  const due = { waitingMs: 10 * minuteMs, otherMs: 24 * 60 * minuteMs, limit: 200 };
  const ids = await payoutAccountsToCheck(deps.em(), deps.clock.now(), due);
  let unanswered = 0;
  for (const id of ids) if (!(await refreshPayoutAccount(deps, id))) unanswered += 1;
  return { asked: ids.length - unanswered, unanswered };
}

/**
 * Handles a signed event of the provider about an account by querying its state. Returns false where the provider does
 * not respond.
 */
export async function payoutAccountChanged(deps: RefreshDeps, providerAccount: string): Promise<boolean> {
  const rows = await deps.em().find(PayoutAccount, { providerAccount, rail: 'connect', status: { $ne: 'gone' } });
  const answered = await Promise.all(rows.map(({ id }) => refreshPayoutAccount(deps, id)));
  return answered.every(Boolean);
}
