/** Payout accounts of their owner. Keys are encrypted before they are stored, and no response contains one. */

import type { Person } from '#api/access.ts';
import { requireSettledAddress } from '#api/accounts/address-hold.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { Account } from '#db/accounts/account.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { encryptKey, lockPayoutAccount } from '#db/payouts/credentials.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { PayoutAgreement } from '#db/payouts/payout-agreement.ts';
import { payoutAccountsToCheck, refreshPayoutAccount, stateColumns } from '#db/payouts/provider-status.ts';
import type { AccountState } from '#providers/payments.ts';
import { call } from '#rules/calls/calls.ts';
import type { PayoutRail } from '#rules/states.ts';
import { minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { checkKey } from './keys.ts';

export async function findPayoutAccount(
  em: EntityManager,
  { accountId }: Person,
  id: string,
): Promise<PayoutAccount | null> {
  return isId('pout', id) ? await em.findOne(PayoutAccount, { id, account: accountId }) : null;
}

/** A payout account of the caller. Throws `not_found`. */
export async function loadPayoutAccount(em: EntityManager, person: Person, id: string): Promise<PayoutAccount> {
  const account = await findPayoutAccount(em, person, id);
  if (account) return account;
  throw errors.not_found('This account has no payout account with this id.', {
    nextAction: `Call ${call('payout.list')} to list the payout accounts.`,
  });
}

export type NewPayoutAccount = {
  id: string;
  name?: string | undefined;
  secret_key?: string | undefined;
  rail?: 'connect' | undefined;
};

/**
 * Adds a payout account, with the owner's key or to be connected by a link. Throws `invalid_payout_account`,
 * `payout_rail_unavailable`, `provider_error`, `plan_limit`, `address_change_pending`.
 */
export async function addPayoutAccount(
  em: EntityManager,
  deps: Deps,
  person: Person,
  input: NewPayoutAccount,
): Promise<PayoutAccount> {
  const { secret_key: key, rail } = input;
  if ((key === undefined) === (rail === undefined)) {
    throw errors.invalid_payout_account('A payout account either has its own key or is connected through a link.', {
      nextAction: 'Send either secret_key, or rail set to "connect".',
    });
  }
  requireRail(deps, key === undefined ? 'connect' : 'own_key');
  await requireSettledPayouts(em, deps, person);
  const state = key === undefined ? null : await checkKey(deps, key);
  const { clock, config } = deps;
  return await em.transactional(async (tx) => {
    await countWithinLimit(tx, deps, {
      limit: 'payout_accounts',
      accountId: person.accountId,
      count: () => tx.count(PayoutAccount, { account: person.accountId, status: { $ne: 'gone' } }),
      what: 'payout accounts',
      nextAction: `Remove an unused payout account with ${call('payout.remove')}.`,
    });
    const account = tx.create(PayoutAccount, {
      id: input.id,
      account: tx.getReference(Account, person.accountId),
      name: input.name ?? (key === undefined ? 'Payout account' : `Payout account …${key.slice(-4)}`),
      createdAt: clock.now(),
      ...(key !== undefined && state
        ? ownKeyColumns(config, input.id, { key, state, now: clock.now() })
        : connectColumns),
    });
    const detail = { rail: account.rail };
    recordAct(tx, clock, person, 'payout_account.added', { subject: account, detail });
    return account;
  });
}

function ownKeyColumns(
  config: Deps['config'],
  id: string,
  { key, state, now }: { key: string; state: AccountState; now: Date },
) {
  const keyColumns = { sealedKey: encryptKey(config, id, key), keyLastFour: key.slice(-4) };
  return { rail: 'own_key' as const, ...keyColumns, ...stateColumns(state, now) };
}

const connectColumns = {
  rail: 'connect' as const,
  status: 'pending' as const,
  waitingFor: ['a connection through its onboarding link'],
};

/** Throws `payout_rail_unavailable`. */
export function requireRail({ config }: Pick<Deps, 'config'>, rail: PayoutRail): void {
  if (config.payouts?.rails.includes(rail)) return;
  const others = config.payouts?.rails ?? [];
  const what =
    rail === 'connect'
      ? 'This platform does not connect payout accounts through a link.'
      : 'This platform does not accept owners’ keys.';
  const instead = others.includes('own_key')
    ? 'Send secret_key with a restricted key from the owner’s payment provider dashboard.'
    : 'Send rail with the value "connect".';
  throw errors.payout_rail_unavailable(what, others.length > 0 ? { nextAction: instead } : {});
}

function requireNotGone({ status, name }: Pick<PayoutAccount, 'status' | 'name'>): void {
  if (status === 'gone') throw errors.payout_account_gone(`The payout account “${name}” was removed.`);
}

/** Throws `invalid_payout_account` for a call that does not apply to the account's rail, and `payout_account_gone`. */
export function requireUsable({ status, name, rail }: PayoutAccount, wanted: PayoutRail): void {
  requireNotGone({ status, name });
  if (rail === wanted) return;
  throw wanted === 'own_key'
    ? errors.invalid_payout_account(`The payout account “${name}” is connected through a link and has no key.`)
    : errors.invalid_payout_account(
        `The payout account “${name}” has its own key and is not connected through a link.`,
        {
          nextAction:
            'The account’s owner needs to complete any missing details in their payment provider’s dashboard.',
        },
      );
}

/** Guards each change of where money goes. Throws `address_change_pending`. */
export async function requireSettledPayouts(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  { accountId }: Pick<Person, 'accountId'>,
) {
  await requireSettledAddress(em, clock, accountId, 'change its payout accounts');
}

/** Throws `payout_account_gone`, `address_change_pending`. */
export async function renamePayoutAccount(
  em: EntityManager,
  deps: Pick<Deps, 'clock'>,
  person: Person,
  { id, name }: { id: string; name: string },
): Promise<PayoutAccount> {
  const account = await loadPayoutAccount(em, person, id);
  requireNotGone(account);
  await requireSettledPayouts(em, deps, person);
  const detail = { name: { from: account.name, to: name } };
  recordAct(em, deps.clock, person, 'payout_account.renamed', { subject: { id, name }, detail });
  account.name = name;
  await em.flush();
  return account;
}

/**
 * Replaces the key with another from the same provider account. Throws `invalid_payout_account`, `payout_account_gone`,
 * `provider_error`, `address_change_pending`.
 */
export async function replaceKey(
  em: EntityManager,
  deps: Deps,
  person: Person,
  { id, key }: { id: string; key: string },
): Promise<PayoutAccount> {
  requireUsable(await loadPayoutAccount(em, person, id), 'own_key');
  requireRail(deps, 'own_key');
  await requireSettledPayouts(em, deps, person);
  const state = await checkKey(deps, key);
  return await em.transactional(async (tx) => {
    const account = await lockPayoutAccount(tx, id);
    requireUsable(account, 'own_key');
    if (account.providerAccount !== state.providerAccount) throw keyOfAnotherAccount();
    recordAct(tx, deps.clock, person, 'payout_account.key_replaced', { subject: account });
    return tx.assign(account, ownKeyColumns(deps.config, id, { key, state, now: deps.clock.now() }));
  });
}

/** A key of another provider account is refused: sites agreed to this one, and refunds come from it. */
function keyOfAnotherAccount() {
  return errors.invalid_payout_account(
    'This key does not belong to the same payment provider account as the key that it would replace.',
    {
      nextAction: `Add the key as a separate payout account with ${call('payout.add')}.`,
    },
  );
}

/** How many sites pay into each account. */
export async function sitesPaying(em: EntityManager, ids: readonly string[]): Promise<Map<string, number>> {
  const agreements = await em.find(
    PayoutAgreement,
    { payoutAccount: { $in: [...ids] }, endedAt: null },
    { fields: ['payoutAccount'] },
  );
  const counts = new Map<string, number>();
  for (const { payoutAccount } of agreements) counts.set(payoutAccount.id, (counts.get(payoutAccount.id) ?? 0) + 1);
  return counts;
}

const refreshTimeoutMs = 3_000;

/** Refreshes accounts that may have changed, for at most 3 s; if the provider is slow, the stored state remains. */
export async function refreshOwn(deps: Deps, { accountId }: Person): Promise<void> {
  const due = { owner: accountId, waitingMs: 5_000, otherMs: 15 * minuteMs, limit: 20 };
  const ids = await payoutAccountsToCheck(deps.em(), deps.clock.now(), due);
  if (ids.length === 0) return;
  const refreshed = Promise.all(ids.map((id) => refreshPayoutAccount(deps, id))).catch((err) =>
    deps.log.warn({ err }, 'payout accounts could not be refreshed'),
  );
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([refreshed, new Promise((resolve) => (timer = setTimeout(resolve, refreshTimeoutMs)))]);
  clearTimeout(timer);
}
