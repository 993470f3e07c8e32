/** What the provider says of payout accounts, asked for and written into their rows. */

import type { EntityManager } from '#db/orm.ts';
import type { AccountState, Payments, PaymentsFault } from '#providers/payments.ts';
import { minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { AppError } from '#runtime/errors.ts';
import { credentialsOf } from './credentials.ts';
import { PayoutAccount } from './payout-account.ts';

export type Asking = { em(): EntityManager; clock: Clock; config: Config; payments: Payments | undefined };

/** What a row says of the account, as the provider has said it. */
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
 * Asks the provider what the account may do, and writes it down. An account that it accepts no more is pending, for what mends that; where
 * it does not answer, the row stays as it is. False there.
 */
export async function refreshPayoutAccount(
  { em: fork, clock, config, payments }: Asking,
  id: string,
): Promise<boolean> {
  const em = fork();
  const account = await em.findOne(PayoutAccount, { id });
  if (!payments || !account || account.status === 'gone' || !(account.sealedKey ?? account.providerAccount))
    return true;
  const state = await readState(payments, { config }, account);
  if (!state) return false;
  const seen = 'providerAccount' in state ? stateColumns(state, clock.now()) : { ...state, checkedAt: clock.now() };
  // Not of a key that was replaced meanwhile.
  await em.nativeUpdate(PayoutAccount, { id, status: { $ne: 'gone' }, sealedKey: account.sealedKey ?? null }, seen);
  return true;
}

type Unusable = { status: 'pending'; waitingFor: string[] };

async function readState(
  payments: Payments,
  { config }: Pick<Asking, 'config'>,
  account: PayoutAccount,
): Promise<AccountState | Unusable | undefined> {
  try {
    return await payments.readAccount(credentialsOf({ config }, account));
  } catch (error) {
    if (error instanceof AppError && error.code === 'payout_key_unreadable') return lacking(unreadable);
    const { reason } = error as Partial<PaymentsFault>;
    if (reason === undefined) throw error;
    if (reason === 'unanswered') return undefined;
    return lacking(account.rail === 'own_key' ? notAccepted : notConnected);
  }
}

const lacking = (what: string): Unusable => ({ status: 'pending', waitingFor: [what] });
const unreadable = 'a new key: the platform can no longer decrypt the stored one';
const notAccepted = 'a new key: the provider no longer accepts the current one';
const notConnected = 'to be connected again through its onboarding link';

/** Accounts of whom the provider is to be asked again: those that wait for something after `waitingMs`, others after `otherMs`. */
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

/** What the schedule asks for. Answers how many answered, and how many did not. */
export async function refreshPayoutAccounts(asking: Asking): Promise<{ asked: number; unanswered: number }> {
  const due = { waitingMs: 10 * minuteMs, otherMs: 24 * 60 * minuteMs, limit: 200 };
  const ids = await payoutAccountsToCheck(asking.em(), asking.clock.now(), due);
  let unanswered = 0;
  for (const id of ids) if (!(await refreshPayoutAccount(asking, id))) unanswered += 1;
  return { asked: ids.length - unanswered, unanswered };
}

/** A signed message of the provider says that one of its accounts has moved: it is asked what is so. False where it does not answer. */
export async function payoutAccountChanged(asking: Asking, providerAccount: string): Promise<boolean> {
  const rows = await asking.em().find(PayoutAccount, { providerAccount, rail: 'connect', status: { $ne: 'gone' } });
  const answered = await Promise.all(rows.map(({ id }) => refreshPayoutAccount(asking, id)));
  return answered.every(Boolean);
}
